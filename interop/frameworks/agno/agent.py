from agno.models.base import Model
from agno.models.response import ModelResponse
from behaviour import listen, reply, serve


class Parrot(Model):
    def answer(self, messages):
        users = [m for m in messages if m.role == 'user']
        return ModelResponse(role='assistant', content=reply([str(m.content) for m in users], len(users[-1].files or [])))

    async def ainvoke(self, messages, **kwargs):
        return self.answer(messages)

    async def ainvoke_stream(self, messages, **kwargs):
        yield self.answer(messages)

    invoke = invoke_stream = _parse_provider_response = _parse_provider_response_delta = None


listener, url = listen()
model = Parrot(id='parrot')

# docs: the agent
from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.os import AgentOS

agent = Agent(id='parrot', name='parrot', description='Repeats', model=model, db=InMemoryDb(), add_history_to_context=True)
app = AgentOS(agents=[agent], a2a_interface=True).get_app()  # for uvicorn
# end

serve(app, listener, url)
