"""The client on a2a-sdk 1.x, over every binding."""

import uuid

from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import Message as ProtoMessage

from a2a.client import A2ACardResolver, ClientCallContext, ClientConfig, ClientFactory
from a2a.client.service_parameters import ServiceParametersFactory, with_a2a_extensions
from a2a.types import a2a_pb2 as pb

from credentials import interceptors
from operations import run


def request(text, task_id='', parts=()):
    return ParseDict({'message': {
        'messageId': str(uuid.uuid4()), 'role': 'ROLE_USER', 'taskId': task_id,
        'parts': [{'text': text}, *({'text': p} if isinstance(p, str) else p for p in parts)],
    }}, pb.SendMessageRequest())


class Adapter:
    def __init__(self, unary, streaming, extensions):
        self.unary = unary
        self.streaming = streaming
        self.extensions = extensions

    @staticmethod
    def plain(value):
        return MessageToDict(value) if isinstance(value, ProtoMessage) else value

    async def send(self, text, **options):
        last = None
        asking = ServiceParametersFactory.create([with_a2a_extensions(self.extensions)])
        context = ClientCallContext(service_parameters=asking)
        async for event in self.unary.send_message(request(text, **options), context=context):
            last = event
        return last

    def stream(self, text):
        return self.streaming.send_message(request(text))

    def subscribe(self, task_id):
        return self.streaming.subscribe(pb.SubscribeToTaskRequest(id=task_id))

    def get(self, task_id, length):
        return self.unary.get_task(pb.GetTaskRequest(id=task_id, history_length=length))

    def cancel(self, task_id):
        return self.unary.cancel_task(pb.CancelTaskRequest(id=task_id))

    def list(self, context_id):
        return self.unary.list_tasks(pb.ListTasksRequest(context_id=context_id))

    async def card(self):
        card = await self.unary.get_extended_agent_card(pb.GetExtendedAgentCardRequest())
        return [card.name, card.description, card.version, [s.id for s in card.skills]]

    def create_push(self, task_id, name):
        return self.unary.create_task_push_notification_config(pb.TaskPushNotificationConfig(
            task_id=task_id, id=name, url='https://hooks.example/a2a', token=f'token-{name}'))

    def get_push(self, task_id, name):
        return self.unary.get_task_push_notification_config(
            pb.GetTaskPushNotificationConfigRequest(task_id=task_id, id=name))

    def delete_push(self, task_id, name):
        return self.unary.delete_task_push_notification_config(
            pb.DeleteTaskPushNotificationConfigRequest(task_id=task_id, id=name))

    def list_push(self, task_id):
        return self.unary.list_task_push_notification_configs(
            pb.ListTaskPushNotificationConfigsRequest(task_id=task_id))

    @staticmethod
    def parts():
        return [
            {'data': {'n': 1.25, 'deep': {'a': [None, True, 'ü']}}},
            {'data': ['an', 'array', 3]},
            {'raw': '//4AAQI=', 'filename': 'a.bin', 'mediaType': 'application/octet-stream'},
            {'url': 'https://files.example/b.pdf?x=1&y=2', 'filename': 'b.pdf', 'mediaType': 'application/pdf'},
        ]

    @staticmethod
    def of(event):
        if isinstance(event, pb.StreamResponse):
            return getattr(event, event.WhichOneof('payload'))
        return event

    def id_of(self, event):
        inner = self.of(event)
        return getattr(inner, 'task_id', '') or getattr(inner, 'id', '')

    def context_of(self, event):
        return getattr(self.of(event), 'context_id', '')

    def is_working(self, event):
        inner = self.of(event)
        return isinstance(inner, pb.TaskStatusUpdateEvent) and inner.status.state == pb.TASK_STATE_WORKING

    def is_completed(self, event):
        return self.of(event).status.state == pb.TASK_STATE_COMPLETED


async def connect(base, binding, client, dial, extensions, credentials):
    card = await A2ACardResolver(client, base).get_agent_card()
    kept = [
        i for i in card.supported_interfaces
        if i.protocol_binding == binding and i.protocol_version.startswith('1.')
    ]
    del card.supported_interfaces[:]
    card.supported_interfaces.extend(kept)

    def make(streaming):
        config = ClientConfig(httpx_client=client, streaming=streaming, grpc_channel_factory=dial,
                              supported_protocol_bindings=[binding])
        return ClientFactory(config).create(card, interceptors=interceptors(credentials))

    return Adapter(make(False), make(True), extensions)


if __name__ == '__main__':
    run(connect)
