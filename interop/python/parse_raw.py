"""Reads a stream with httpx-sse alone, and prints each thing that it hands out.

Usage: parse_raw.py BASE stream|endless|resubscribe TASK
"""

import json
import sys

import httpx
import httpx_sse

from parsing import call, word


def main(base, what, task):
    with httpx.Client(timeout=30) as client:
        with httpx_sse.connect_sse(client, 'POST', base, json=call(what, task)) as source:
            for event in source.iter_sse():
                said = word(json.loads(event.data)) if event.data else 'an event without data'
                print(said)
                if said == 'subscribe again':
                    return
    print('end')


main(*sys.argv[1:])
