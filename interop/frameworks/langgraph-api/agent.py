import os
import sys
import threading
import time
import urllib.request

from behaviour import announce, listen

listener, url = listen()
host, port = listener.getsockname()
listener.close()  # the server of the framework listens itself

sys.path.insert(0, os.getcwd())
os.environ.setdefault('LANGSMITH_LANGGRAPH_API_VARIANT', 'local_dev')


def tell():
    while True:
        try:
            urllib.request.urlopen(url + '/ok', timeout=5).read()
            break
        except OSError:
            time.sleep(0.1)
    announce(url)


threading.Thread(target=tell, daemon=True).start()

from langgraph_api.cli import run_server

run_server(host=host, port=port, graphs={'agent': './graph.py:graph'}, allow_blocking=True, disable_persistence=True)
