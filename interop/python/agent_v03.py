"""The agent on a2a-sdk 0.3: protocol 0.3 over JSON-RPC at /, HTTP+JSON at
/rest and gRPC on a port of its own."""

import asyncio
import uuid

import httpx
from starlette.applications import Starlette
from starlette.routing import Mount

from a2a.grpc import a2a_pb2_grpc
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2ARESTFastAPIApplication, A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentExtension,
    AgentInterface,
    AgentSkill,
    Message,
    Part,
    Role,
    TaskState,
    TextPart,
)
from a2a.utils import new_task

from behaviour import ECHO, Behaviour, activate, asked, serve

ENDS = {'completed', 'failed', 'rejected', 'canceled', 'input-required'}


def text_part(text):
    return Part(root=TextPart(text=text))


class Emit:
    def __init__(self, context, queue):
        self.context = context
        self.queue = queue
        self.artifact_id = str(uuid.uuid4())
        self.updater = TaskUpdater(queue, context.task_id, context.context_id)

    async def submitted(self):
        await self.queue.enqueue_event(new_task(self.context.message))

    async def status(self, state, text=None):
        message = self.updater.new_agent_message([text_part(text)]) if text else None
        await self.updater.update_status(TaskState(state), message, final=state in ENDS)

    async def artifact(self, text, append, last):
        await self.updater.add_artifact(
            [text_part(text)], artifact_id=self.artifact_id, name='artifact', append=append, last_chunk=last)

    async def message(self, text):
        parts = [text_part(text), *self.context.message.parts[1:]]
        await self.queue.enqueue_event(Message(
            role=Role.agent, message_id=str(uuid.uuid4()), context_id=self.context.context_id, parts=parts,
            metadata=activate(self.context) or None))


class Executor(AgentExecutor):
    def __init__(self):
        self.behaviour = Behaviour()

    async def execute(self, context, event_queue):
        words = asked(context.message.message_id, getattr(context.message.parts[0].root, 'text', ''))
        emit = Emit(context, event_queue)
        try:
            await self.behaviour.execute(context.task_id, context.current_task is not None, words, emit)
        except asyncio.CancelledError:
            # The SDK gives cancel() a queue of its own, and then ends this
            # coroutine: only from here do open streams learn of it.
            await emit.status('canceled')

    async def cancel(self, context, event_queue):
        await Emit(context, event_queue).status('canceled')


def make_card(url, rpc):
    skills = [
        AgentSkill(id=i, name=n, description=f'{n}s.', tags=['test'])
        for i, n in (('work', 'Work'), ('rest', 'Rest'))
    ]
    return AgentCard(
        name='Python 0.3', description='Does every operation.', version='1.0.0', protocol_version='0.3.0',
        url=f'{url}/', preferred_transport='JSONRPC', skills=skills,
        additional_interfaces=[
            AgentInterface(url=f'{url}/', transport='JSONRPC'),
            AgentInterface(url=f'{url}/rest', transport='HTTP+JSON'),
            AgentInterface(url=rpc, transport='GRPC'),
        ],
        capabilities=AgentCapabilities(
            streaming=True, push_notifications=True,
            extensions=[AgentExtension(uri=ECHO, description='Says what was asked for.')]),
        supports_authenticated_extended_card=True,
        default_input_modes=['text/plain'], default_output_modes=['text/plain'])


def make_app(url, rpc):
    card = make_card(url, rpc)
    extended = card.model_copy(update={'description': card.description + ' Extended.'})
    store = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandler(
        agent_executor=Executor(), task_store=InMemoryTaskStore(), push_config_store=store,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), store))
    http = A2AStarletteApplication(agent_card=card, http_handler=handler, extended_agent_card=extended)
    rest = A2ARESTFastAPIApplication(agent_card=card, http_handler=handler, extended_agent_card=extended)
    app = Starlette(routes=[Mount('/rest', rest.build()), *http.routes()])
    return app, lambda server: a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(card, handler), server)


if __name__ == '__main__':
    serve(make_app)
