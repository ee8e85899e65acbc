import asyncio
import threading
import time
import urllib.request

from behaviour import announce, listen

listener, url = listen()
host, port = listener.getsockname()
listener.close()  # the server of the framework listens itself


def tell():
    while True:
        try:
            urllib.request.urlopen(url + '/.well-known/agent-card.json', timeout=5).read()
            break
        except OSError:
            time.sleep(0.1)
    announce(url)


threading.Thread(target=tell, daemon=True).start()

# docs: the agent
from fast_agent import FastAgent

fast = FastAgent('parrot', parse_cli_args=False)


@fast.agent(name='parrot', instruction='Repeats', model='passthrough')
async def main():
    await fast.start_server(transport='a2a', host=host, port=port)
# end


asyncio.run(main())
