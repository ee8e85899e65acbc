import os
import re

os.environ.setdefault('CREWAI_DISABLE_TELEMETRY', 'true')
os.environ.setdefault('OTEL_SDK_DISABLED', 'true')

from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore
from behaviour import listen, reply, serve
from crewai import BaseLLM


class Parrot(BaseLLM):
    def call(self, messages, *args, **kwargs):
        prompt = messages if isinstance(messages, str) else messages[-1]['content']
        task = re.search(r'Current Task: (.*)', prompt)
        return f'Thought: I know.\nFinal Answer: {reply([task.group(1) if task else prompt])}'

    async def acall(self, messages, *args, **kwargs):
        return self.call(messages)


listener, url = listen()
llm = Parrot(model='parrot')

# docs: the agent
from crewai import Agent
from crewai.a2a import A2AServerConfig
from crewai.a2a.utils.task import cancel, execute

agent = Agent(role='parrot', goal='Repeats', backstory='A bird', llm=llm, a2a=A2AServerConfig(url=url))


class Executor(AgentExecutor):  # of a2a-sdk
    async def execute(self, context, event_queue):
        await execute(agent, context, event_queue)

    async def cancel(self, context, event_queue):
        await cancel(context, event_queue)
# end


card = agent.to_agent_card(url)
handler = DefaultRequestHandler(Executor(), InMemoryTaskStore())
serve(A2AStarletteApplication(card, handler).build(), listener, url)
