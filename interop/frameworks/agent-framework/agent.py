from a2a.types import AgentCapabilities, AgentCard, AgentInterface
from agent_framework import BaseChatClient, ChatResponse, Message
from behaviour import listen, reply, serve


class Parrot(BaseChatClient):
    def _inner_get_response(self, *, messages, stream, options, **kwargs):
        async def answer():
            users = [m.contents for m in messages if m.role == 'user']
            files = sum(1 for c in users[-1] if c.type in ('data', 'uri'))
            said = reply([''.join(c.text or '' for c in contents if c.type == 'text') for contents in users], files)
            return ChatResponse(messages=[Message(role='assistant', contents=[said])], response_id='1')

        return answer()


listener, url = listen()
chat_client = Parrot()
interface = AgentInterface(url=url, protocol_binding='JSONRPC', protocol_version='1.0')
card = AgentCard(
    name='parrot', description='Repeats', version='1', default_input_modes=['text'], default_output_modes=['text'],
    capabilities=AgentCapabilities(streaming=True), supported_interfaces=[interface],
)

# docs: the agent
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from agent_framework import Agent
from agent_framework.a2a import A2AExecutor
from starlette.applications import Starlette

agent = Agent(chat_client, name='parrot')
handler = DefaultRequestHandler(A2AExecutor(agent), InMemoryTaskStore(), card)  # an a2a.types.AgentCard
app = Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, '/')])  # for uvicorn
# end

serve(app, listener, url)
