from behaviour import reply


def parrot(state):
    users = [m for m in state['messages'] if m.type == 'human']
    contents = [[u.content] if isinstance(u.content, str) else u.content for u in users]
    texts = [''.join(c if isinstance(c, str) else c.get('text', '') for c in content) for content in contents]
    files = sum(1 for c in contents[-1] if isinstance(c, dict) and c['type'] != 'text')
    return {'messages': [AIMessage(reply(texts, files))]}


# docs: the graph
from langchain_core.messages import AIMessage
from langgraph.graph import MessagesState, StateGraph

builder = StateGraph(MessagesState)
builder.add_node('parrot', parrot)
builder.set_entry_point('parrot')
builder.set_finish_point('parrot')
graph = builder.compile()
# end
