// Package pushconfig finds the push notification configs of calls and answers, and puts others in
// their places. A config is a webhook for the events of a task (A2A 1.0 §4.3), and comes inline in a
// send, as the params of a create, in what that returns, and in lists:
//
//	0.1           send    {"id":"T","message":{…},"pushNotification":{WEBHOOK}}
//	              set     {"id":"T","pushNotificationConfig":{WEBHOOK}}
//	0.3 JSON-RPC  send    {"message":{…},"configuration":{"pushNotificationConfig":{"id":"C",WEBHOOK}}}
//	              set     {"taskId":"T","pushNotificationConfig":{"id":"C",WEBHOOK}}
//	              list    [{"taskId":"T","pushNotificationConfig":{"id":"C",WEBHOOK}}]
//	0.3's proto   send    {"message":{…},"configuration":{"pushNotification":{"id":"C",WEBHOOK}}}
//	              create  {"parent":"tasks/T","configId":"C","config":{"name":…,"pushNotificationConfig":{…}}}
//	              list    {"configs":[{"name":"tasks/T/pushNotificationConfigs/C","pushNotificationConfig":{…}}]}
//	1.0           send    {"message":{…},"configuration":{"taskPushNotificationConfig":{"id":"C",WEBHOOK}}}
//	              create  {"taskId":"T","id":"C",WEBHOOK}
//	              list    {"configs":[{"taskId":"T","id":"C",WEBHOOK}],"nextPageToken":""}
//
// where WEBHOOK is "url", "token" and "authentication", which names its scheme in 1.0 and a list of
// schemes before.
//
// The gateway gives the agent a webhook of its own in the place of the caller's, and shows the
// caller's again in answers. So nothing of a config may get past this package: a second URL, or a
// token beside the object with the URL, would tell the agent where the caller listens. All other
// bytes of a document stay as they are.
package pushconfig
