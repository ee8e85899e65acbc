"""What the programs that try parsers have in common, for documents of A2A 0.3."""


def call(what, task):
    """The JSON-RPC call that begins a stream."""
    if what == 'resubscribe':
        return {'jsonrpc': '2.0', 'id': 1, 'method': 'tasks/resubscribe', 'params': {'id': task}}
    return {'jsonrpc': '2.0', 'id': 1, 'method': 'message/stream', 'params': {'message': message(what)}}


def message(what):
    return {'kind': 'message', 'messageId': 'm', 'role': 'user', 'parts': [{'kind': 'text', 'text': what}]}


def word(response):
    """A JSON-RPC response in a word."""
    if 'error' in response:
        return again(response['error']['message'])
    result = response['result']
    if 'artifact' in result:
        return result['artifact']['parts'][0]['text']
    return result['status']['state']


def again(text):
    return 'subscribe again' if 'subscribe again' in text else text
