from ag2.config import LLMClient, ModelConfig
from ag2.events import BinaryInput, ModelMessage, ModelRequest, ModelResponse, TextInput
from behaviour import listen, reply, serve


class Client(LLMClient):
    async def __call__(self, messages, context, **kwargs):
        users = [m.parts for m in messages if isinstance(m, ModelRequest)]
        files = sum(1 for p in users[-1] if isinstance(p, BinaryInput))
        texts = [''.join(p.content for p in parts if isinstance(p, TextInput)) for parts in users]
        message = ModelMessage(reply(texts, files))
        await context.send(message)
        return ModelResponse(message)


class Parrot(ModelConfig):
    def copy(self):
        return self

    def create(self):
        return Client()


listener, url = listen()
model = Parrot()

# docs: the agent
from ag2 import Agent
from ag2.a2a import A2AServer

agent = Agent('parrot', config=model)
app = A2AServer(agent).build_jsonrpc(url=url)  # for uvicorn
# end

serve(app, listener, url)
