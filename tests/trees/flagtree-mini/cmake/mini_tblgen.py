#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A TableGen that knows as much as this tree needs.

    include "FILE"                       looked up in the -I directories, in order
    class NAME { string FIELD = "V"; }   a kind of record with its defaults
    def NAME : CLASS { let FIELD = "V"; }

Writes one TD_RECORD(name, "base", "variant") for every record of the kind asked for, and a depfile.
"""
import argparse
import os
import re
import sys

KINDS = {"op_decls": "Op", "op_interface_decls": "Interface", "pass_decls": "Pass"}
TOKEN = re.compile(r'\s+|//[^\n]*|"([^"\n]*)"|([A-Za-z_]\w*)|([{}:;=])')


class Parser:

    def __init__(self, include_dirs):
        self.include_dirs = include_dirs
        self.classes, self.records, self.files = {}, [], []

    def load(self, path):
        self.files.append(path)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        tokens, at = [], 0
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                line = text.count("\n", 0, at) + 1
                sys.exit(f"{path}:{line}: cannot read {text[at]!r}")
            if match.lastindex:
                tokens.append(match.group(match.lastindex))
            at = match.end()
        self.path, self.tokens = path, tokens
        while self.tokens:
            self.statement(self.tokens.pop(0))

    def statement(self, word):
        if word == "include":
            path, rest = self.path, self.tokens[1:]
            self.load(self.find(self.tokens[0]))
            self.path, self.tokens = path, rest
        elif word == "class":
            name = self.tokens.pop(0)
            self.classes[name] = self.body("string")
        elif word == "def":
            name = self.tokens.pop(0)
            self.expect(":")
            kind = self.tokens.pop(0)
            if kind not in self.classes:
                sys.exit(f"{self.path}: {name} is of unknown class {kind}")
            self.records.append((name, kind, {**self.classes[kind], **self.body("let")}))
        else:
            sys.exit(f"{self.path}: expected include, class or def, got {word!r}")

    def body(self, keyword):
        fields = {}
        self.expect("{")
        while self.tokens[0] != "}":
            self.expect(keyword)
            name = self.tokens.pop(0)
            self.expect("=")
            fields[name] = self.tokens.pop(0)
            self.expect(";")
        self.expect("}")
        return fields

    def expect(self, word):
        got = self.tokens.pop(0)
        if got != word:
            sys.exit(f"{self.path}: expected {word!r}, got {got!r}")

    def find(self, name):
        for directory in self.include_dirs:
            path = os.path.join(directory, name)
            if os.path.isfile(path):
                return path
        sys.exit(f"{self.path}: cannot find {name} in {self.include_dirs}")


def main():
    ap = argparse.ArgumentParser()
    for kind in KINDS:
        ap.add_argument("-gen-" + kind.replace("_", "-"), dest="kind", action="store_const", const=KINDS[kind])
    ap.add_argument("-I", action="append", default=[], dest="include_dirs")
    ap.add_argument("-d", dest="depfile", required=True)
    ap.add_argument("-o", dest="out", required=True)
    ap.add_argument("td")
    args = ap.parse_args()
    parser = Parser(args.include_dirs)
    parser.load(args.td)
    os.makedirs(os.path.dirname(args.out), exist_ok=True)
    with open(args.out, "w", encoding="utf-8") as f:
        f.write("// made by mini_tblgen.py\n")
        for name, kind, fields in parser.records:
            if kind == args.kind:
                f.write(f'TD_RECORD({name}, "{fields["base"]}", "{fields["variant"]}")\n')
    with open(args.depfile, "w", encoding="utf-8") as f:
        f.write(args.out + ": " + " ".join(parser.files) + "\n")


if __name__ == "__main__":
    main()
