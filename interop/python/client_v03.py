"""The client on a2a-sdk 0.3, over every binding."""

import uuid

from pydantic import BaseModel

from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import (
    GetTaskPushNotificationConfigParams,
    Message,
    PushNotificationConfig,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TaskStatusUpdateEvent,
)

from credentials import interceptors
from operations import run


def message(text, task_id=None, parts=()):
    return Message.model_validate({
        'kind': 'message', 'messageId': str(uuid.uuid4()), 'role': 'user', 'taskId': task_id,
        'parts': [
            {'kind': 'text', 'text': text},
            *({'kind': 'text', 'text': p} if isinstance(p, str) else p for p in parts),
        ],
    })


def of(event):
    """The SDK gives a message, or the task so far with the update that came."""
    if isinstance(event, tuple):
        task, update = event
        return update if update is not None else task
    return event


class Adapter:
    def __init__(self, unary, streaming):
        self.unary = unary
        self.streaming = streaming

    @staticmethod
    def plain(value):
        value = of(value)
        return value.model_dump(mode='json', by_alias=True, exclude_none=True) if isinstance(value, BaseModel) else value

    async def send(self, text, **options):
        last = None
        async for event in self.unary.send_message(message(text, **options)):
            last = event
        return last

    def stream(self, text):
        return self.streaming.send_message(message(text))

    def subscribe(self, task_id):
        return self.streaming.resubscribe(TaskIdParams(id=task_id))

    def get(self, task_id, length):
        return self.unary.get_task(TaskQueryParams(id=task_id, history_length=length))

    def cancel(self, task_id):
        return self.unary.cancel_task(TaskIdParams(id=task_id))

    async def card(self):
        card = await self.unary.get_card()
        return [card.name, card.description, card.version, [s.id for s in card.skills]]

    def create_push(self, task_id, name):
        return self.unary.set_task_callback(TaskPushNotificationConfig(
            task_id=task_id,
            push_notification_config=PushNotificationConfig(
                id=name, url='https://hooks.example/a2a', token=f'token-{name}')))

    def get_push(self, task_id, name):
        return self.unary.get_task_callback(GetTaskPushNotificationConfigParams(
            id=task_id, push_notification_config_id=name))

    @staticmethod
    def parts():
        return [
            {'kind': 'data', 'data': {'n': 1.25, 'deep': {'a': [None, True, 'ü']}}},
            {'kind': 'file', 'file': {
                'bytes': '//4AAQI=', 'name': 'a.bin', 'mimeType': 'application/octet-stream'}},
            {'kind': 'file', 'file': {
                'uri': 'https://files.example/b.pdf?x=1&y=2', 'name': 'b.pdf', 'mimeType': 'application/pdf'}},
        ]

    @staticmethod
    def id_of(event):
        inner = of(event)
        return getattr(inner, 'task_id', None) or getattr(inner, 'id', '')

    @staticmethod
    def is_working(event):
        inner = of(event)
        return isinstance(inner, TaskStatusUpdateEvent) and inner.status.state == 'working'

    @staticmethod
    def is_completed(event):
        return of(event).status.state == 'completed'


async def connect(base, binding, client, dial, extensions, credentials):
    card = await A2ACardResolver(client, base).get_agent_card()
    interfaces = [(card.preferred_transport, card.url)]
    interfaces += [(i.transport, i.url) for i in card.additional_interfaces or []]
    url = next(u for transport, u in interfaces if transport == binding)
    card = card.model_copy(update={'url': url, 'preferred_transport': binding, 'additional_interfaces': []})

    def make(streaming):
        config = ClientConfig(httpx_client=client, streaming=streaming, grpc_channel_factory=dial,
                              supported_transports=[binding])
        return ClientFactory(config).create(
            card, extensions=extensions, interceptors=interceptors(credentials))

    return Adapter(make(False), make(True))


if __name__ == '__main__':
    run(connect)
