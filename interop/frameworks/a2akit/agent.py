from behaviour import listen, reply, serve

listener, url = listen()

# docs: the agent
from a2akit import A2AServer, AgentCardConfig, CapabilitiesConfig, TaskContext, Worker


class Parrot(Worker):
    async def handle(self, ctx: TaskContext) -> None:
        await ctx.complete(reply([ctx.user_text], len(ctx.files)))


card = AgentCardConfig(name='parrot', description='Repeats', capabilities=CapabilitiesConfig(streaming=True))
server = A2AServer(worker=Parrot(), agent_card=card)
app = server.as_fastapi_app()  # for uvicorn
# end

serve(app, listener, url)
