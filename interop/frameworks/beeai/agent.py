import json

import uvicorn
from beeai_framework.backend import AssistantMessage, ChatModel, ChatModelOutput
from beeai_framework.backend.message import MessageFileContent, MessageTextContent, MessageToolCallContent
from behaviour import listen, reply
from behaviour import serve as run


def text(contents):
    said = ''.join(c.text for c in contents if isinstance(c, MessageTextContent))
    return said.removeprefix('Your task: ')  # which the framework puts before it


class Parrot(ChatModel):
    model_id = 'parrot'
    provider_id = 'openai'

    def answer(self, messages):
        users = [m.content for m in messages if m.role == 'user']
        files = sum(1 for c in users[-1] if isinstance(c, MessageFileContent))
        said = reply([text(contents) for contents in users], files)
        call = MessageToolCallContent(id='1', tool_name='final_answer', args=json.dumps({'response': said}))
        return ChatModelOutput(output=[AssistantMessage(call)])

    async def _create(self, input, run):
        return self.answer(input.messages)

    async def _create_stream(self, input, run):
        yield self.answer(input.messages)


listener, url = listen()
host, port = listener.getsockname()
model = Parrot()
# The server of the framework listens itself: it is given the address that is taken.
uvicorn.run = lambda app, **_: run(app, listener, url)

# docs: the agent
from beeai_framework.adapters.a2a.serve.server import A2AServer, A2AServerConfig
from beeai_framework.agents.requirement import RequirementAgent
from beeai_framework.serve.utils import LRUMemoryManager

agent = RequirementAgent(name='parrot', description='Repeats', llm=model)
server = A2AServer(config=A2AServerConfig(host=host, port=port), memory_manager=LRUMemoryManager(maxsize=100))
server.register(agent).serve()
# end
