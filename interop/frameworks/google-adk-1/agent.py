from behaviour import listen, reply, serve
from google.adk.models import BaseLlm, LlmResponse
from google.genai import types


class Parrot(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        users = [c.parts for c in llm_request.contents if c.role == 'user']
        files = sum(1 for p in users[-1] if p.inline_data)
        answer = reply([''.join(p.text or '' for p in parts) for parts in users], files)
        yield LlmResponse(content=types.Content(role='model', parts=[types.Part(text=answer)]))


listener, url = listen()
host, port = listener.getsockname()
model = Parrot(model='parrot')

# docs: the agent
from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import LlmAgent

agent = LlmAgent(name='parrot', description='Repeats', model=model)
app = to_a2a(agent, host=host, port=port)  # for uvicorn
# end

serve(app, listener, url)
