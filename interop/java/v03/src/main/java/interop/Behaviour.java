package interop;

import io.a2a.server.agentexecution.AgentExecutor;
import io.a2a.server.agentexecution.RequestContext;
import io.a2a.server.events.EventQueue;
import io.a2a.server.tasks.TaskUpdater;
import io.a2a.spec.Message;
import io.a2a.spec.Part;
import io.a2a.spec.Task;
import io.a2a.spec.TaskState;
import io.a2a.spec.TaskStatus;
import io.a2a.spec.TextPart;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** What every agent of the matrix does: the first word of the text chooses, see interop/README.md. */
@ApplicationScoped
public class Behaviour implements AgentExecutor {
    private final Set<String> cancelled = new HashSet<>(); // guarded by this

    @Override
    public void execute(RequestContext context, EventQueue queue) {
        Message request = context.getMessage();
        Emit emit = new Emit(context, queue);
        String word = ((TextPart) request.getParts().get(0)).getText().split(" ", 2)[0];
        if (context.getTask() != null) {
            emit.status(TaskState.COMPLETED, "thank you");
        } else if (word.equals("message")) {
            emit.message("answer");
        } else {
            emit.submitted();
            work(word, context.getTaskId(), emit);
        }
    }

    private void work(String word, String taskId, Emit emit) {
        switch (word) {
            case "stream" -> {
                emit.status(TaskState.WORKING, "working");
                emit.artifact("one", false, false);
                emit.artifact("two\nlines", true, false);
                emit.artifact("three\u2028and <html>", true, true);
                emit.status(TaskState.COMPLETED, "completed");
            }
            case "input" -> emit.status(TaskState.INPUT_REQUIRED, "what?");
            case "tick" -> {
                while (tick(taskId, emit)) {
                    sleep();
                }
            }
            case "fail" -> emit.status(TaskState.FAILED, "failed");
            case "reject" -> emit.status(TaskState.REJECTED, "rejected");
            default -> {
                emit.artifact("result", false, true);
                emit.status(TaskState.COMPLETED, "completed");
            }
        }
    }

    // No tick may come after the end of the task.
    private synchronized boolean tick(String taskId, Emit emit) {
        if (cancelled.contains(taskId)) {
            return false;
        }
        emit.status(TaskState.WORKING, null);
        return true;
    }

    private static void sleep() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public synchronized void cancel(RequestContext context, EventQueue queue) {
        cancelled.add(context.getTaskId());
        new Emit(context, queue).status(TaskState.CANCELED, null);
    }

    /** Writes the events of one task in the words of the SDK. */
    private static class Emit {
        private static final Set<TaskState> ENDS = Set.of(TaskState.COMPLETED, TaskState.FAILED,
                TaskState.REJECTED, TaskState.CANCELED, TaskState.INPUT_REQUIRED);

        private final RequestContext context;
        private final EventQueue queue;
        private final TaskUpdater updater;
        private final String artifactId = UUID.randomUUID().toString();

        Emit(RequestContext context, EventQueue queue) {
            this.context = context;
            this.queue = queue;
            this.updater = new TaskUpdater(context, queue);
        }

        void submitted() {
            queue.enqueueEvent(new Task.Builder()
                    .id(context.getTaskId()).contextId(context.getContextId())
                    .status(new TaskStatus(TaskState.SUBMITTED)).history(context.getMessage())
                    .metadata(context.getMessage().getMetadata())
                    .build());
        }

        void status(TaskState state, String text) {
            Message message = text == null ? null : updater.newAgentMessage(List.of(new TextPart(text)), null);
            updater.updateStatus(state, message, ENDS.contains(state));
        }

        void artifact(String text, boolean append, boolean last) {
            updater.addArtifact(List.of(new TextPart(text)), artifactId, "artifact", null, append, last);
        }

        void message(String text) {
            List<Part<?>> parts = new ArrayList<>(context.getMessage().getParts());
            parts.set(0, new TextPart(text));
            queue.enqueueEvent(new Message.Builder()
                    .role(Message.Role.AGENT).messageId(UUID.randomUUID().toString())
                    .contextId(context.getContextId()).parts(parts).build());
        }
    }
}
