//! The extra handler: prompts, resources and completions.

use serde_json::json;
use tokio::sync::watch;
use tool_mcp::rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, ElicitResult, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, InputRequest, InputRequests, InputRequiredResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, PaginatedRequestParams, PromptMessage, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use tool_mcp::rmcp::service::{RequestContext, SubscriptionContext};
use tool_mcp::rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::content::PNG;
use crate::prompts;

pub struct ExtraHandler {
    changes: watch::Sender<usize>,
}

impl ExtraHandler {
    /// Takes the channel that signals changed prompts.
    pub fn new(changes: watch::Sender<usize>) -> Self {
        Self { changes }
    }
}

impl ServerHandler for ExtraHandler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        ServerConfig::new(capabilities)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::all()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name == "test_input_required_result_prompt" {
            return with_context(&request);
        }
        let messages = prompts::get(&request.name, &request.arguments.unwrap_or_default());
        let messages = messages.ok_or_else(|| ErrorData::invalid_params("unknown prompt", None))?;
        Ok(GetPromptResult::new(messages).into())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let values = ["paris", "park", "party"].map(str::to_owned).into();
        let completion = CompletionInfo::new(values).map_err(|error| ErrorData::internal_error(error, None))?;
        Ok(CompleteResult::new(completion))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = ["static-text", "static-binary", "watched-resource"];
        let listed = |name: &str| Resource::new(format!("test://{name}"), name).with_description("For the suite.");
        Ok(ListResourcesResult::with_all_items(resources.map(listed).into()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new("test://template/{id}/data", "template").with_description("By number.");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let contents = match uri {
            "test://static-text" => ResourceContents::text("This is the content of the static text resource.", uri),
            "test://watched-resource" => ResourceContents::text("Nothing has happened yet.", uri),
            "test://static-binary" => ResourceContents::blob(PNG, uri).with_mime_type("image/png"),
            _ => {
                let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
                let missing = || ErrorData::resource_not_found("unknown resource", Some(json!({"uri": uri})));
                let id = id.ok_or_else(missing)?;
                let text = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")}).to_string();
                ResourceContents::text(text, uri).with_mime_type("application/json")
            }
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                Ok(()) = changes.changed() => drop(context.sink().notify_prompt_list_changed().await),
            }
        }
    }
}

/// A prompt that requests its context from the user.
fn with_context(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let wrong = |error: serde_json::Error| ErrorData::invalid_params(error.to_string(), None);
    let answer = request.input_responses.as_ref().and_then(|answers| answers.get("user_context"));
    let Some(answer) = answer else {
        let schema = json!({"type": "object", "properties": {"context": {"type": "string"}}, "required": ["context"]});
        let params =
            json!({"mode": "form", "message": "What context should the prompt use?", "requestedSchema": schema});
        let question: InputRequest =
            serde_json::from_value(json!({"method": "elicitation/create", "params": params})).map_err(wrong)?;
        let questions = InputRequests::from([("user_context".to_owned(), question)]);
        return Ok(InputRequiredResult::from_input_requests(questions).into());
    };
    let answer: ElicitResult = serde_json::from_value(answer.clone()).map_err(wrong)?;
    let context = answer.content.unwrap_or_default();
    let text = format!("About {}.", context["context"].as_str().unwrap_or("nothing"));
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
}
