package frameworks;

import java.util.concurrent.Callable;

// docs: the client
import dev.langchain4j.agentic.Agent;
import dev.langchain4j.agentic.AgenticServices;
import dev.langchain4j.service.V;

public class Client {
  public interface Parrot {
    @Agent
    String ask(@V("text") String text);
  }

  static Parrot connect(String url) {
    return AgenticServices.a2aBuilder(url, Parrot.class).outputKey("answer").build();
  }
// end

  public static void main(String[] args) {
    Parrot[] parrot = new Parrot[1];
    step("card", () -> {
      parrot[0] = connect(System.getenv("A2A_URL"));
      return "read";
    });
    if (parrot[0] == null) {
      return;
    }
    step("send", () -> parrot[0].ask("message hello"));
    step("stream", () -> parrot[0].ask("task")); // which it always asks for as one answer
    step("error", () -> parrot[0].ask("fail"));
  }

  /** Does a step and tells what came of it, as one JSON line. */
  static void step(String name, Callable<String> does) {
    boolean ok = true;
    String said;
    try {
      said = does.call();
    } catch (Exception | Error e) {
      ok = false;
      said = e.toString();
    }
    said = said == null ? "null" : said.replaceAll("[^ -~]", " ").replace("\\", "\\\\").replace("\"", "'");
    System.out.println("{\"step\":\"" + name + "\",\"ok\":" + ok + ",\"said\":\"" + said + "\"}");
  }
}
