# SPDX-License-Identifier: MIT
"""What a test run came to: collects results as they come and tells them truthfully at the end.

    summary.py record RESULTS NAME OK|FAIL LOGFILE
    summary.py collect RESULTS LABEL MESON-STATUS BUILDDIR SUITE...
    summary.py report RESULTS

RESULTS holds one JSON object a line: name, result (one of meson's words) and log. `collect` reads
meson's own log of the run that has just ended in BUILDDIR, and tests.json there, which lists the
tests that meson knows: one that was asked for and left no result has failed. `report` shows the
end of each failed test's log, says why others were skipped, and prints the closing line; it exits
1 when something failed or nothing ran.
"""
import collections
import json
import os
import sys

PASSED = ('OK', 'EXPECTEDFAIL')
SKIPPED = ('SKIP', )
TAIL_LINES = 40


def read_json_lines(path):
    """The objects of a file; a last line that was cut off by a kill is left out."""
    found = []
    try:
        with open(path, encoding='utf-8', errors='replace') as f:
            for line in f:
                try:
                    found.append(json.loads(line))
                except ValueError:
                    break
    except FileNotFoundError:
        pass
    return found


def add(results, entries):
    with open(results, 'a', encoding='utf-8') as f:
        for name, result, log in entries:
            f.write(json.dumps({'name': name, 'result': result, 'log': log}) + '\n')


def record(results, name, result, log_path):
    with open(log_path, encoding='utf-8', errors='replace') as f:
        add(results, [(name, result, f.read())])


def bare_name(name):
    """A test's own name: meson puts its suites before it when there are several."""
    return name.rpartition(' / ')[2]


def collect(results, label, meson_status, builddir, suites):
    """Add the results of meson's last run in @builddir, and a failure for each that is missing."""
    with open(os.path.join(builddir, 'tests.json'), encoding='utf-8') as f:
        known = json.load(f)
    wanted = collections.Counter(
        t['name'] for t in known if set(suites) & {s.rpartition(':')[2] for s in t['suite']})
    entries = []
    for run in read_json_lines(os.path.join(builddir, 'meson-logs', 'testlog.json')):
        wanted[bare_name(run['name'])] -= 1
        log = (run.get('stdout') or '') + (run.get('stderr') or '')
        if run['result'] not in PASSED:
            log += f'\n({run["result"]}, exit status {run.get("returncode")}, ' \
                   f'{run.get("duration", 0):.1f} s: {" ".join(run.get("command") or [])})'
        entries.append((f'{run["name"]} ({label})', run['result'], log))
    for name in sorted(wanted):
        for _ in range(wanted[name]):
            entries.append((f'{name} ({label})', 'FAIL', 'left no result: it never ran to its end'))
    if meson_status and all(result in PASSED + SKIPPED for _, result, _ in entries):
        entries.append((f'meson test ({label})', 'FAIL', f'exit status {meson_status}'))
    add(results, entries)


def tail(log):
    lines = log.strip().splitlines()
    if len(lines) > TAIL_LINES:
        lines = [f'... {len(lines) - TAIL_LINES} lines before'] + lines[-TAIL_LINES:]
    return '\n'.join('    ' + line for line in lines)


def report(results):
    """Print what failed and the closing line; returns the exit status."""
    entries = read_json_lines(results)
    failed = [e for e in entries if e['result'] not in PASSED + SKIPPED]
    skipped = [e for e in entries if e['result'] in SKIPPED]
    passed = len(entries) - len(failed) - len(skipped)

    for e in skipped:
        reason = (e['log'].strip().splitlines() or ['no reason given'])[0]
        print(f'skipped: {e["name"]}: {reason}')
    for e in failed:
        print(f'\nFAILED: {e["name"]}\n{tail(e["log"])}')
    if not passed and not failed:
        print('\nFAILED: no test ran')
        failed = [None]
    also = f', {len(skipped)} skipped' if skipped else ''
    print(f'\n{passed} passed, {len(failed)} failed{also}')
    return 1 if failed else 0


def main(argv):
    command = argv[1] if len(argv) > 1 else ''
    if command == 'record' and len(argv) == 6:
        record(*argv[2:])
    elif command == 'collect' and len(argv) > 6:
        collect(argv[2], argv[3], int(argv[4]), argv[5], argv[6:])
    elif command == 'report' and len(argv) == 3:
        return report(argv[2])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
