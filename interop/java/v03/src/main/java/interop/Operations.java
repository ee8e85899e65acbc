package interop;

import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import io.a2a.spec.JSONRPCError;
import io.a2a.spec.TextPart;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The conversations of every client of the matrix. Results are printed as the SDK gives them, one
 * JSON line for each operation, and compared by whoever started the program.
 */
final class Operations {
    /** These have a task that says the same thing until it is cancelled; how often is luck. */
    private static final Set<String> TICKING = Set.of("cancel a stream", "subscribe to a running task");
    private static final String MEGABYTE = "zyxw vuts rqpo nm".repeat(1 << 16);
    private static final Object END = new Object();
    private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private static final ObjectMapper JSON = JsonMapper.builder()
            .addModule(new JavaTimeModule())
            .enable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
            .build();

    private final Client a;
    private final List<String> lines = new ArrayList<>();

    private Operations(Client adapter) {
        a = adapter;
    }

    /** Something that the SDK does, or fails at. */
    private interface Call<T> {
        T run() throws Exception;
    }

    /** Starts a stream of events, and says how it ended: null is well. */
    private interface Source {
        void start(Consumer<Object> events, Consumer<Throwable> end) throws Exception;
    }

    /** Does all operations, or the one that is called only. */
    static void run(Client client, String only) throws Exception {
        Map<String, Consumer<Operations>> all = new LinkedHashMap<>();
        all.put("message reply", r -> r.send("message", null));
        all.put("task reply", r -> r.send("task", null));
        all.put("failed task", r -> r.send("fail", null));
        all.put("rejected task", r -> r.send("reject", null));
        all.put("stream to completion", r -> r.stream("stream", event -> { }));
        all.put("stream of one message", r -> r.stream("message", event -> { }));
        all.put("input required and continue", Operations::answered);
        all.put("cancel a stream", r -> r.stream("tick", once(r::cancel)));
        all.put("subscribe to a running task", r -> r.stream("tick", once(r::attach)));
        all.put("subscribe to an ended task", r -> r.subscribe(r.ended(), event -> { }));
        all.put("cancel an ended task", r -> r.cancel(r.ended()));
        all.put("message to an ended task", r -> r.send("more", r.ended()));
        all.put("get with history lengths", Operations::histories);
        all.put("push configurations", Operations::push);
        all.put("extended card", r -> r.attempt("card", r.a::card));
        all.put("unknown task", Operations::unknown);
        all.put("data and file parts", r -> r.attempt("send", () -> r.a.send("message", null, Client.parts())));
        all.put("one megabyte", r -> r.attempt("send", () -> r.a.send("message", null, new TextPart(MEGABYTE))));
        if (only != null) { // agents end their tasks before they answer: done where a run asks for it
            all.put("get a task until it is completed", Operations::getUntilCompleted);
        }
        for (Map.Entry<String, Consumer<Operations>> operation : all.entrySet()) {
            if (only != null && !only.equals(operation.getKey())) {
                continue;
            }
            Operations r = new Operations(client);
            operation.getValue().accept(r);
            Map<String, Object> outcome = new LinkedHashMap<>();
            outcome.put("operation", operation.getKey());
            outcome.put("ticks", TICKING.contains(operation.getKey()));
            outcome.put("lines", r.lines);
            OUT.println(JSON.writeValueAsString(outcome));
        }
        OUT.println("{\"done\": true}");
    }

    private String ended() {
        return Client.idOf(send("task", null));
    }

    private String answered() {
        String id = Client.idOf(send("input", null));
        send("this", id);
        return id;
    }

    private void histories() {
        String id = answered();
        for (Integer length : new Integer[] {0, 1, null}) {
            attempt("get " + length, () -> a.get(id, length));
        }
    }

    private void getUntilCompleted() {
        Object task = send("task", null);
        String id = Client.idOf(task);
        Instant end = Instant.now().plusSeconds(10);
        while (task != null && !Client.isCompleted(task) && Instant.now().isBefore(end)) {
            task = attempt("get", () -> {
                Thread.sleep(50);
                return a.get(id, null);
            });
        }
    }

    private void push() {
        String id = ended();
        attempt("create", () -> a.createPush(id, "c1"));
        attempt("create", () -> a.createPush(id, "c2"));
        attempt("get", () -> a.getPush(id, "c1"));
        attempt("delete", () -> a.deletePush(id, "c1"));
        attempt("list", () -> a.listPush(id));
        attempt("get deleted", () -> a.getPush(id, "c1"));
    }

    private void unknown() {
        String id = UUID.randomUUID().toString();
        attempt("get", () -> a.get(id, null));
        cancel(id);
        subscribe(id, event -> { });
        send("hello?", id);
    }

    private Object send(String text, String taskId) {
        return attempt("send", () -> a.send(text, taskId));
    }

    private void cancel(String id) {
        attempt("cancel", () -> a.cancel(id));
    }

    private void stream(String text, Consumer<Object> react) {
        each("stream", (events, end) -> a.stream(text, events, end), react);
    }

    private void subscribe(String id, Consumer<Object> react) {
        each("subscribe", (events, end) -> a.subscribe(id, events, end), react);
    }

    private void attach(String id) {
        boolean[] seen = {false};
        subscribe(id, once(same -> {
            seen[0] = true;
            cancel(same);
        }));
        if (!seen[0]) {
            cancel(id);
        }
    }

    private static Consumer<Object> once(Consumer<String> call) {
        boolean[] done = {false};
        return event -> {
            if (!done[0] && Client.isWorking(event)) {
                done[0] = true;
                call.accept(Client.idOf(event));
            }
        };
    }

    private <T> T attempt(String what, Call<T> call) {
        try {
            return note(what, call.run());
        } catch (Exception | JSONRPCError e) { // every error is a result
            lines.add(what + ": " + reason(e));
            return null;
        }
    }

    /** The SDK calls back from threads of its own; what came is looked at on this one. */
    private void each(String what, Source source, Consumer<Object> react) {
        BlockingQueue<Object> queue = new LinkedBlockingQueue<>();
        try {
            source.start(queue::add, error -> queue.add(error == null ? END : error));
            Instant end = Instant.now().plusSeconds(10); // none goes on by itself
            for (Object item = queue.poll(10, TimeUnit.SECONDS); item != END; item = queue.poll(10, TimeUnit.SECONDS)) {
                if (item == null || Instant.now().isAfter(end)) {
                    lines.add(what + ": no end");
                    return;
                }
                if (item instanceof Throwable error) {
                    lines.add(what + ": " + reason(error));
                    return;
                }
                note(what, item);
                react.accept(item);
                if (Client.isLast(item)) {
                    break;
                }
            }
            lines.add(what + ": end");
        } catch (Exception | JSONRPCError e) { // every error is a result
            lines.add(what + ": " + reason(e));
        }
    }

    private <T> T note(String what, T value) throws Exception {
        lines.add(what + ": " + JSON.writeValueAsString(value).replace(MEGABYTE, "<megabyte>"));
        return value;
    }

    private static String reason(Throwable error) {
        String text = "error " + error.getClass().getSimpleName();
        if (error.getCause() != null) {
            text += " of " + error.getCause().getClass().getSimpleName();
        }
        if (System.getenv("A2A_INTEROP_DEBUG") == null) {
            return text;
        }
        StringWriter trace = new StringWriter();
        error.printStackTrace(new PrintWriter(trace));
        return text + " " + trace;
    }
}
