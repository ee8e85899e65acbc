from behaviour import listen, reply, serve
from strands.models import Model


class Parrot(Model):
    def update_config(self, **config):
        pass

    def get_config(self):
        return {}

    def structured_output(self, *args, **kwargs):
        raise NotImplementedError

    async def stream(self, messages, *args, **kwargs):
        users = [m['content'] for m in messages if m['role'] == 'user']
        files = sum(1 for c in users[-1] if 'document' in c)
        answer = reply([''.join(c.get('text', '') for c in contents) for contents in users], files)
        yield {'messageStart': {'role': 'assistant'}}
        yield {'contentBlockDelta': {'delta': {'text': answer}}}
        yield {'contentBlockStop': {}}
        yield {'messageStop': {'stopReason': 'end_turn'}}


listener, url = listen()
model = Parrot()

# docs: the agent
from strands import Agent
from strands.multiagent.a2a import A2AServer

agent = Agent(name='parrot', description='Repeats', model=model, callback_handler=None)
app = A2AServer(agent, http_url=url).to_starlette_app()  # for uvicorn
# end

serve(app, listener, url)
