"""The agent on a2a-sdk 1.x: protocol 1.0 over JSON-RPC at /, HTTP+JSON at
/rest and gRPC on a port of its own."""

import uuid

import httpx
from starlette.applications import Starlette

from a2a.helpers import new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.routes import (
    create_agent_card_routes,
    create_jsonrpc_routes,
    create_rest_routes,
)
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import a2a_pb2 as pb, a2a_pb2_grpc

from behaviour import ECHO, Behaviour, activate, asked, serve

STATES = {
    'working': pb.TASK_STATE_WORKING,
    'completed': pb.TASK_STATE_COMPLETED,
    'failed': pb.TASK_STATE_FAILED,
    'rejected': pb.TASK_STATE_REJECTED,
    'canceled': pb.TASK_STATE_CANCELED,
    'input-required': pb.TASK_STATE_INPUT_REQUIRED,
}


class Emit:
    def __init__(self, context, queue):
        self.context = context
        self.queue = queue
        self.artifact_id = str(uuid.uuid4())
        self.updater = TaskUpdater(queue, context.task_id, context.context_id)

    async def submitted(self):
        await self.queue.enqueue_event(new_task_from_user_message(self.context.message))

    async def status(self, state, text=None):
        message = self.updater.new_agent_message([new_text_part(text)]) if text else None
        await self.updater.update_status(STATES[state], message)

    async def artifact(self, text, append, last):
        await self.updater.add_artifact(
            [new_text_part(text)], artifact_id=self.artifact_id, name='artifact', append=append, last_chunk=last)

    async def message(self, text):
        parts = [new_text_part(text), *self.context.message.parts[1:]]
        message = pb.Message(
            role=pb.ROLE_AGENT, message_id=str(uuid.uuid4()), context_id=self.context.context_id, parts=parts)
        if marks := activate(self.context):
            message.metadata.update(marks)
        await self.queue.enqueue_event(message)


class Executor(AgentExecutor):
    def __init__(self):
        self.behaviour = Behaviour()

    async def execute(self, context, event_queue):
        words = asked(context.message.message_id, context.message.parts[0].text)
        await self.behaviour.execute(
            context.task_id, context.current_task is not None, words, Emit(context, event_queue))

    async def cancel(self, context, event_queue):
        await self.behaviour.cancel(context.task_id, Emit(context, event_queue))


def make_card(url, rpc):
    skills = [
        pb.AgentSkill(id=i, name=n, description=f'{n}s.', tags=['test'])
        for i, n in (('work', 'Work'), ('rest', 'Rest'))
    ]
    return pb.AgentCard(
        name='Python 1', description='Does every operation.', version='1.0.0', skills=skills,
        supported_interfaces=[
            pb.AgentInterface(url=f'{url}/', protocol_binding='JSONRPC', protocol_version='1.0'),
            pb.AgentInterface(url=f'{url}/rest', protocol_binding='HTTP+JSON', protocol_version='1.0'),
            pb.AgentInterface(url=rpc, protocol_binding='GRPC', protocol_version='1.0'),
        ],
        capabilities=pb.AgentCapabilities(
            streaming=True, push_notifications=True, extended_agent_card=True,
            extensions=[pb.AgentExtension(uri=ECHO, description='Says what was asked for.')]),
        default_input_modes=['text/plain'], default_output_modes=['text/plain'])


def make_app(url, rpc):
    card = make_card(url, rpc)
    extended = make_card(url, rpc)
    extended.description += ' Extended.'
    store = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandler(
        agent_executor=Executor(), task_store=InMemoryTaskStore(), agent_card=card,
        push_config_store=store, push_sender=BasePushNotificationSender(httpx.AsyncClient(), store),
        extended_agent_card=extended)
    app = Starlette(routes=[
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, '/'),
        *create_rest_routes(handler, path_prefix='/rest'),
    ])
    return app, lambda server: a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(handler), server)


if __name__ == '__main__':
    serve(make_app)
