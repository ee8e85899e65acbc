package interop;

import com.fasterxml.jackson.databind.JsonNode;
import io.a2a.client.ClientEvent;
import io.a2a.client.MessageEvent;
import io.a2a.client.TaskEvent;
import io.a2a.client.TaskUpdateEvent;
import io.a2a.client.config.ClientConfig;
import io.a2a.client.http.A2ACardResolver;
import io.a2a.client.http.A2AHttpClient;
import io.a2a.client.http.JdkA2AHttpClient;
import io.a2a.client.transport.grpc.GrpcTransport;
import io.a2a.client.transport.grpc.GrpcTransportConfigBuilder;
import io.a2a.client.transport.jsonrpc.JSONRPCTransport;
import io.a2a.client.transport.jsonrpc.JSONRPCTransportConfigBuilder;
import io.a2a.client.transport.rest.RestTransport;
import io.a2a.client.transport.rest.RestTransportConfigBuilder;
import io.a2a.client.transport.spi.interceptors.ClientCallContext;
import io.a2a.client.transport.spi.interceptors.auth.AuthInterceptor;
import io.a2a.spec.A2AClientException;
import io.a2a.spec.AgentCard;
import io.a2a.spec.AgentInterface;
import io.a2a.spec.DataPart;
import io.a2a.spec.DeleteTaskPushNotificationConfigParams;
import io.a2a.spec.FilePart;
import io.a2a.spec.FileWithBytes;
import io.a2a.spec.FileWithUri;
import io.a2a.spec.GetTaskPushNotificationConfigParams;
import io.a2a.spec.ListTaskPushNotificationConfigParams;
import io.a2a.spec.Message;
import io.a2a.spec.Part;
import io.a2a.spec.PushNotificationConfig;
import io.a2a.spec.Task;
import io.a2a.spec.TaskIdParams;
import io.a2a.spec.TaskPushNotificationConfig;
import io.a2a.spec.TaskQueryParams;
import io.a2a.spec.TaskState;
import io.a2a.spec.TaskStatusUpdateEvent;
import io.a2a.spec.TextPart;
import io.a2a.util.Utils;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * The client on the Java SDK 0.3. It reads what to do from standard input, one JSON line for each
 * run, see interop/README.md.
 */
public class Client implements AutoCloseable {
    private final io.a2a.client.Client unary;
    private final io.a2a.client.Client streaming;
    private final ClientCallContext headers;
    private final AuthInterceptor auth;
    private final A2AHttpClient http = new JdkA2AHttpClient();
    private final List<ManagedChannel> channels = new ArrayList<>();

    public static void main(String... args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode job = Utils.OBJECT_MAPPER.readTree(line);
            try (Client client = new Client(job)) {
                Operations.run(client, job.path("only").asText(null));
            }
        }
        System.exit(0); // the SDK's threads would stay
    }

    Client(JsonNode job) throws Exception {
        Map<String, String> all = Utils.OBJECT_MAPPER.convertValue(job.get("headers"),
                Utils.OBJECT_MAPPER.getTypeFactory().constructMapType(Map.class, String.class, String.class));
        headers = new ClientCallContext(Map.of(), all);
        JsonNode credentials = job.path("credentials");
        auth = new AuthInterceptor((scheme, context) -> credentials.path(scheme).asText(null));
        String binding = job.get("binding").asText();
        // The SDK takes the path of the card, not of the base, for all of the path.
        String base = job.get("base").asText();
        AgentCard card = new A2ACardResolver(http, base,
                URI.create(base).getPath() + "/.well-known/agent-card.json", all).getAgentCard();
        AgentCard one = only(card, binding);
        unary = connect(one, false);
        streaming = connect(one, true);
    }

    /** The card with one interface, which the SDK then has to choose. */
    private static AgentCard only(AgentCard card, String binding) {
        List<AgentInterface> all = new ArrayList<>();
        all.add(new AgentInterface(card.preferredTransport(), card.url()));
        if (card.additionalInterfaces() != null) {
            all.addAll(card.additionalInterfaces());
        }
        AgentInterface chosen = all.stream().filter(i -> i.transport().equals(binding)).findFirst().orElseThrow();
        return new AgentCard.Builder(card).url(chosen.url()).preferredTransport(binding)
                .additionalInterfaces(List.of(chosen)).build();
    }

    private io.a2a.client.Client connect(AgentCard card, boolean stream) throws A2AClientException {
        return io.a2a.client.Client.builder(card)
                .clientConfig(new ClientConfig.Builder().setStreaming(stream).build())
                .withTransport(JSONRPCTransport.class, new JSONRPCTransportConfigBuilder()
                        .httpClient(http).addInterceptor(auth))
                .withTransport(RestTransport.class, new RestTransportConfigBuilder()
                        .httpClient(http).addInterceptor(auth))
                .withTransport(GrpcTransport.class, new GrpcTransportConfigBuilder().channelFactory(this::dial))
                .build();
    }

    private ManagedChannel dial(String target) {
        ManagedChannel channel = ManagedChannelBuilder.forTarget(target).usePlaintext()
                .maxInboundMessageSize(16 << 20).build();
        channels.add(channel);
        return channel;
    }

    @Override
    public void close() {
        channels.forEach(ManagedChannel::shutdownNow);
    }

    Object send(String text, String taskId, Part<?>... more) throws A2AClientException {
        Object[] last = {null};
        unary.sendMessage(message(text, taskId, more), List.of((event, card) -> last[0] = of(event)),
                error -> { }, headers);
        return last[0];
    }

    void stream(String text, Consumer<Object> events, Consumer<Throwable> end) throws A2AClientException {
        streaming.sendMessage(message(text, null), each(events), end, headers);
    }

    void subscribe(String id, Consumer<Object> events, Consumer<Throwable> end) throws A2AClientException {
        streaming.resubscribe(new TaskIdParams(id), each(events), end, headers);
    }

    private static List<BiConsumer<ClientEvent, AgentCard>> each(Consumer<Object> events) {
        return List.of((event, card) -> events.accept(of(event)));
    }

    Task get(String id, Integer length) throws A2AClientException {
        return unary.getTask(length == null ? new TaskQueryParams(id) : new TaskQueryParams(id, length), headers);
    }

    Task cancel(String id) throws A2AClientException {
        return unary.cancelTask(new TaskIdParams(id), headers);
    }

    Object card() throws A2AClientException {
        AgentCard card = unary.getAgentCard(headers);
        return Arrays.asList(card.name(), card.description(), card.version(),
                card.skills().stream().map(s -> s.id()).toList());
    }

    Object createPush(String taskId, String id) throws A2AClientException {
        return unary.setTaskPushNotificationConfiguration(new TaskPushNotificationConfig(taskId,
                new PushNotificationConfig.Builder().id(id).url("https://hooks.example/a2a").token("token-" + id).build()),
                headers);
    }

    Object getPush(String taskId, String id) throws A2AClientException {
        return unary.getTaskPushNotificationConfiguration(new GetTaskPushNotificationConfigParams(taskId, id), headers);
    }

    Object deletePush(String taskId, String id) throws A2AClientException {
        unary.deleteTaskPushNotificationConfigurations(new DeleteTaskPushNotificationConfigParams(taskId, id), headers);
        return null;
    }

    Object listPush(String taskId) throws A2AClientException {
        return unary.listTaskPushNotificationConfigurations(new ListTaskPushNotificationConfigParams(taskId), headers);
    }

    static Part<?>[] parts() {
        return new Part<?>[] {
            new DataPart(Map.of("n", 1.25, "deep", Map.of("a", List.of(true, "ü")))),
            new FilePart(new FileWithBytes("application/octet-stream", "a.bin", "//4AAQI=")),
            new FilePart(new FileWithUri("application/pdf", "b.pdf", "https://files.example/b.pdf?x=1&y=2")),
        };
    }

    private static Message message(String text, String taskId, Part<?>... more) {
        List<Part<?>> parts = new ArrayList<>();
        parts.add(new TextPart(text));
        parts.addAll(List.of(more));
        return new Message.Builder().role(Message.Role.USER).messageId(UUID.randomUUID().toString())
                .taskId(taskId).parts(parts).build();
    }

    /** The SDK gives a message, a task, or the task so far with the update that came. */
    private static Object of(ClientEvent event) {
        if (event instanceof MessageEvent m) {
            return m.getMessage();
        }
        return event instanceof TaskUpdateEvent u ? u.getUpdateEvent() : ((TaskEvent) event).getTask();
    }

    static String idOf(Object event) {
        if (event instanceof Task task) {
            return task.getId();
        }
        return event instanceof TaskStatusUpdateEvent update ? update.getTaskId() : "";
    }

    static boolean isCompleted(Object event) {
        return event instanceof Task task && task.getStatus().state() == TaskState.COMPLETED;
    }

    static boolean isWorking(Object event) {
        return event instanceof TaskStatusUpdateEvent update && update.getStatus().state() == TaskState.WORKING;
    }

    /**
     * Whether a stream ends with this event. The SDK tells the end over JSON-RPC only, and there it
     * hangs up after this event, which it may report as an error.
     */
    static boolean isLast(Object event) {
        return event instanceof Message || event instanceof Task task && task.getStatus().state().isFinal()
                || event instanceof TaskStatusUpdateEvent update && update.isFinal();
    }
}
