package interop;

import io.a2a.server.ExtendedAgentCard;
import io.a2a.server.PublicAgentCard;
import io.a2a.server.requesthandlers.RequestHandler;
import io.a2a.server.util.async.Internal;
import io.a2a.spec.AgentCapabilities;
import io.a2a.spec.AgentCard;
import io.a2a.spec.AgentInterface;
import io.a2a.spec.AgentSkill;
import io.a2a.transport.grpc.handler.CallContextFactory;
import io.a2a.transport.grpc.handler.GrpcHandler;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.QuarkusApplication;
import io.quarkus.runtime.annotations.QuarkusMain;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Inject;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * The agent on the Java SDK 0.3: protocol 0.3 over JSON-RPC at / and HTTP+JSON below /v1, both by
 * the SDK's Quarkus server, and gRPC on a port of its own by the SDK's handler.
 *
 * <p>It tells its address on standard output as one JSON line, and ends when standard input is
 * closed: no agent outlives the test that started it.
 */
@QuarkusMain
public class Agent implements QuarkusApplication {
    private static int port;
    private static int grpcPort;

    @Inject
    RequestHandler handler;
    @Inject
    @PublicAgentCard
    AgentCard card;
    @Inject
    @Internal
    Executor executor;

    public static void main(String... args) throws IOException {
        // The card names both ports, and is made before anything listens.
        // Neither is given back before both are there: they would be the same.
        try (ServerSocket first = listen(); ServerSocket second = listen()) {
            port = first.getLocalPort();
            grpcPort = second.getLocalPort();
        }
        System.setProperty("quarkus.http.port", Integer.toString(port));
        // The SDK knows of no gRPC server but its own Quarkus module.
        System.setProperty("io.a2a.transport.grpc.skipValidation", "true");
        Quarkus.run(Agent.class, args);
    }

    @Override
    public int run(String... args) throws Exception {
        Server grpc = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", grpcPort))
                .maxInboundMessageSize(16 << 20)
                .addService(new Service(handler, card, executor))
                .build().start();
        System.out.printf("{\"port\": %d, \"url\": \"%s\"}%n", port, url());
        System.in.transferTo(OutputStream.nullOutputStream());
        grpc.shutdownNow();
        return 0;
    }

    private static ServerSocket listen() throws IOException {
        return new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    }

    private static String url() {
        return "http://127.0.0.1:" + port;
    }

    /** Makes both cards. */
    @ApplicationScoped
    static class Cards {
        @Produces
        @PublicAgentCard
        AgentCard open() {
            return make("Does every operation.");
        }

        @Produces
        @ExtendedAgentCard
        AgentCard extended() {
            return make("Does every operation. Extended.");
        }

        private static AgentCard make(String description) {
            return new AgentCard.Builder()
                    .name("Java 0.3").description(description).version("1.0.0").protocolVersion("0.3.0")
                    .url(url()).preferredTransport("JSONRPC")
                    .additionalInterfaces(List.of(
                            new AgentInterface("JSONRPC", url()),
                            new AgentInterface("HTTP+JSON", url()),
                            new AgentInterface("GRPC", "127.0.0.1:" + grpcPort)))
                    .capabilities(new AgentCapabilities.Builder().streaming(true).pushNotifications(true).build())
                    .supportsAuthenticatedExtendedCard(true)
                    .defaultInputModes(List.of("text/plain")).defaultOutputModes(List.of("text/plain"))
                    .skills(List.of(skill("work", "Work"), skill("rest", "Rest")))
                    .build();
        }

        private static AgentSkill skill(String id, String name) {
            return new AgentSkill.Builder().id(id).name(name).description(name + "s.").tags(List.of("test")).build();
        }
    }

    /** The SDK's gRPC service, given what it asks for. */
    static class Service extends GrpcHandler {
        private final RequestHandler handler;
        private final AgentCard card;
        private final Executor executor;

        Service(RequestHandler handler, AgentCard card, Executor executor) {
            this.handler = handler;
            this.card = card;
            this.executor = executor;
        }

        @Override
        protected RequestHandler getRequestHandler() {
            return handler;
        }

        @Override
        protected AgentCard getAgentCard() {
            return card;
        }

        @Override
        protected CallContextFactory getCallContextFactory() {
            return null;
        }

        @Override
        protected Executor getExecutor() {
            return executor;
        }
    }
}
