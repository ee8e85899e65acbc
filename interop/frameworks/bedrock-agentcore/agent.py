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
from bedrock_agentcore.runtime.a2a import build_a2a_app
from strands import Agent
from strands.multiagent.a2a.executor import StrandsA2AExecutor

agent = Agent(name='parrot', description='Repeats', model=model, callback_handler=None)
executor = StrandsA2AExecutor(agent, enable_a2a_compliant_streaming=True)
app = build_a2a_app(executor, runtime_url=url + '/')  # for uvicorn
# end

serve(app, listener, url)
