from behaviour import listen, reply, serve
from pydantic_ai.messages import BinaryContent, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel

async def parrot(messages, info):
    users = [[p for p in m.parts if isinstance(p, UserPromptPart)] for m in messages]
    contents = [[c for p in parts for c in flat(p.content)] for parts in users if parts]
    texts = [''.join(c for c in content if isinstance(c, str)) for content in contents]
    files = sum(1 for c in contents[-1] if isinstance(c, BinaryContent))
    return ModelResponse(parts=[TextPart(reply(texts, files))])


def flat(content):
    return [content] if isinstance(content, str) else content


listener, url = listen()
model = FunctionModel(parrot)

# docs: the agent of 2
from fasta2a.pydantic_ai import agent_to_a2a
from pydantic_ai import Agent

agent = Agent(model, name='parrot')
app = agent_to_a2a(agent, url=url)  # for uvicorn
# end

serve(app, listener, url)
