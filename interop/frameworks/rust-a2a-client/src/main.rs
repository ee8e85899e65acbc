//! The client on the crate a2a-client: its steps, one JSON line for each.

use std::env::var;

use a2a_client::A2AClient;
use a2a_types::{
    CancelTaskRequest, GetTaskRequest, Message, Part, Role, SendMessageRequest, part,
    send_message_response, stream_response,
};
use futures_util::StreamExt;
use reqwest::header::{HeaderMap, HeaderValue};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

// docs: the client
async fn connect(url: &str, key: &str) -> Result<A2AClient> {
    let mut headers = HeaderMap::new();
    headers.insert("A2A-Version", HeaderValue::from_static("1.0"));
    headers.insert("X-API-Key", HeaderValue::from_str(key)?);
    let http = reqwest::Client::builder().default_headers(headers).build()?;
    Ok(A2AClient::from_card_url_with_client(url, http).await?)
}
// end

fn text(text: &str) -> Part {
    Part {
        content: Some(part::Content::Text(text.into())),
        media_type: "text/plain".into(),
        ..Default::default()
    }
}

fn message(parts: Vec<Part>, (context_id, task_id): (String, String)) -> SendMessageRequest {
    let message = Message {
        message_id: format!("m{:?}", std::time::SystemTime::now()),
        role: Role::User.into(),
        parts,
        context_id,
        task_id,
        ..Default::default()
    };
    SendMessageRequest { message: Some(message), ..Default::default() }
}

/// What was said, and the context and the task that it belongs to.
async fn ask(
    client: &A2AClient,
    parts: Vec<Part>,
    of: (String, String),
) -> Result<(String, (String, String))> {
    use send_message_response::Payload::{Message, Task};
    match client.send_message(message(parts, of)).await?.payload {
        Some(Message(m)) => Ok((texts(&m.parts), (m.context_id, m.task_id))),
        Some(Task(t)) => Ok((said(&t), (t.context_id, t.id))),
        None => Err("an answer without payload".into()),
    }
}

fn said(task: &a2a_types::Task) -> String {
    let status = task.status.clone().unwrap_or_default();
    let mut all = vec![status.state().as_str_name().to_string()];
    all.extend(task.artifacts.iter().map(|a| texts(&a.parts)));
    all.extend(status.message.map(|m| texts(&m.parts)));
    all.join(" ")
}

fn texts(parts: &[Part]) -> String {
    let one = |p: &Part| match &p.content {
        Some(part::Content::Text(t)) => t.clone(),
        Some(part::Content::Raw(raw)) => format!("{} bytes", raw.len()),
        other => format!("{other:?}"),
    };
    parts.iter().map(one).collect::<Vec<_>>().join(" ")
}

async fn stream(client: &A2AClient) -> Result<String> {
    use stream_response::Payload::{ArtifactUpdate, Message, StatusUpdate, Task};
    let mut events =
        client.send_streaming_message(message(vec![text("stream")], Default::default())).await?;
    let mut all = Vec::new();
    while let Some(event) = events.next().await {
        all.push(match event?.payload {
            Some(Task(t)) => said(&t),
            Some(Message(m)) => texts(&m.parts),
            Some(StatusUpdate(s)) => s.status.unwrap_or_default().state().as_str_name().to_string(),
            Some(ArtifactUpdate(a)) => texts(&a.artifact.unwrap_or_default().parts),
            None => "nothing".to_string(),
        });
    }
    Ok(all.join("; "))
}

/// Does a step and tells what came of it.
async fn step(name: &str, does: impl Future<Output = Result<String>>) {
    let limit = std::time::Duration::from_secs(30);
    let (ok, said) = match tokio::time::timeout(limit, does).await {
        Ok(Ok(said)) => (true, said),
        Ok(Err(e)) => (false, e.to_string()),
        Err(_) => (false, "nothing came in time".to_string()),
    };
    println!("{}", serde_json::json!({"step": name, "ok": ok, "said": said}));
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (url, key) = (var("A2A_URL").expect("A2A_URL"), var("A2A_KEY").unwrap_or_default());
    let client = match connect(&url, &key).await {
        Ok(client) => client,
        Err(e) => return step("card", async { Err(e) }).await,
    };
    let c = &client;
    step("card", async { Ok(c.agent_card().name.clone()) }).await;
    step("send", async { Ok(ask(c, vec![text("message hello")], Default::default()).await?.0) }).await;
    step("stream", stream(c)).await;
    step("two turns", async {
        let (_, of) = ask(c, vec![text("input")], Default::default()).await?;
        Ok(ask(c, vec![text("more")], of).await?.0)
    })
    .await;
    step("get", async {
        let (_, (_, id)) = ask(c, vec![text("task")], Default::default()).await?;
        Ok(said(&c.get_task(GetTaskRequest { id, ..Default::default() }).await?))
    })
    .await;
    step("cancel", async {
        let (_, (_, id)) = ask(c, vec![text("input")], Default::default()).await?;
        Ok(said(&c.cancel_task(CancelTaskRequest { id, ..Default::default() }).await?))
    })
    .await;
    step("file", async {
        let file = Part {
            content: Some(part::Content::Raw(b"hello".to_vec().into())),
            media_type: "text/plain".into(),
            filename: "hello.txt".into(),
            ..Default::default()
        };
        Ok(ask(c, vec![text("message"), file], Default::default()).await?.0)
    })
    .await;
    step("error", async {
        let id = "no-such-task".to_string();
        match c.get_task(GetTaskRequest { id, ..Default::default() }).await {
            Err(e) if e.to_string().to_lowercase().contains("task not found") => Ok("not found".into()),
            Err(e) => Err(e.into()),
            Ok(_) => Err("there is such a task".into()),
        }
    })
    .await;
}
