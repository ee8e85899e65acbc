from behaviour import announce, listen, reply
from werkzeug.serving import make_server

listener, url = listen()
turns = {}


def answer(task):
    said = turns.setdefault(task.session_id, [])
    said.append(task.message['content']['text'])
    return reply(said)


# docs: the agent
from python_a2a import A2AServer, AgentCard, TaskState, TaskStatus
from python_a2a.server.http import create_flask_app


class Parrot(A2AServer):
    def handle_task(self, task):
        task.artifacts = [{'parts': [{'type': 'text', 'text': answer(task)}]}]
        task.status = TaskStatus(state=TaskState.COMPLETED)
        return task


app = create_flask_app(Parrot(AgentCard(name='parrot', description='Repeats', url=url)))
# end

announce(url)
make_server('127.0.0.1', 0, app, threaded=True, fd=listener.fileno()).serve_forever()
