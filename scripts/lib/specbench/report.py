# SPDX-License-Identifier: MIT
"""Results: ratios, whether a target is met, the table and the JSON."""
import statistics

from .work import REQUESTS

SAME = 1.02  # two ratios that are this near are the same


def ratios(times):
    """{file system: median over the rounds of its time by that of ext4 in the same round}."""
    native = times['native']
    found = {}
    for name, values in times.items():
        pairs = [v / n for v, n in zip(values, native) if v is not None and n]
        if pairs:
            found[name] = statistics.median(pairs)
    return found


def is_met(workload, found):
    """True, False, or None where there is no target or nothing to compare with it."""
    mine = found.get('specfs')
    if workload.target is None or mine is None:
        return None
    peer = found.get('overlayfs') if workload.beats_overlayfs else None
    return mine <= workload.target and (peer is None or mine <= peer * SAME)


def row_of(workload, times, requests):
    """One row: {file system: [seconds or requests of each round]} -> what the JSON tells."""
    row = {'workload': workload.key, 'title': workload.title.strip(), 'kind': workload.kind,
           'target': workload.target, 'not_slower_than_overlayfs': workload.beats_overlayfs}
    given = {name: [v for v in values if v is not None] for name, values in times.items()}
    given = {name: values for name, values in given.items() if values}
    if workload.kind == REQUESTS:
        found = {name: statistics.median(values) for name, values in given.items()}
        row['requests'] = found
    else:
        found = ratios(times)
        row['ratios'] = {name: round(value, 3) for name, value in found.items()}
        row['seconds'] = {name: [round(v, 7) for v in values] for name, values in given.items()}
        row['specfs_requests'] = statistics.median(requests) if requests else None
    row['met'] = is_met(workload, found)
    return row


def cell(row, name):
    if row['kind'] == REQUESTS:
        value = row['requests'].get(name)
        return '-' if value is None else f'{value:.0f}'
    value = row['ratios'].get(name)
    return '-' if value is None else f'{value:.2f}'


def markdown(rows, names):
    """The same as a table for a README."""
    lines = ['| workload | ' + ' | '.join(names) + ' | target |', '|---' * (len(names) + 2) + '|']
    title = ''
    for row in rows:
        same = row['title'].startswith('the same')
        title = title if same else row['title'].split(', directory')[0]
        what = title + ',' + row['title'][len('the same,'):] if same else row['title']
        target = '' if row['target'] is None else f'{row["target"]:g}'
        lines.append(f'| {what} | ' + ' | '.join(cell(row, n) for n in names) + f' | {target} |')
    return '\n'.join(lines) + '\n'


def head(names):
    return f'{"workload":<43}' + ''.join(f'{n:>15}' for n in names) \
        + f'{"requests":>10}{"target":>8}  met'


def line(workload, row, names):
    target = row['target']
    asked = row.get('specfs_requests')
    met = {True: 'yes', False: 'NO', None: ''}[row['met']]
    return f'{workload.title:<43}' + ''.join(f'{cell(row, n):>15}' for n in names) \
        + f'{"" if asked is None else f"{asked:.0f}":>10}' \
        + f'{"" if target is None else f"{target:g}":>8}  {met}'
