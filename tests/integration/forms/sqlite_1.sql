BEGIN TRANSACTION;
CREATE TABLE messages (
	room_id TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	session_id TEXT, 
	agent_key TEXT, 
	sender TEXT NOT NULL, 
	text TEXT NOT NULL, 
	source TEXT, 
	prompt_kind TEXT, 
	said_at BIGINT NOT NULL, 
	reply_to INTEGER, 
	thread_root INTEGER, 
	client_key TEXT, 
	PRIMARY KEY (room_id, number), 
	FOREIGN KEY(room_id, reply_to) REFERENCES messages (room_id, number), 
	FOREIGN KEY(room_id, thread_root) REFERENCES messages (room_id, number), 
	FOREIGN KEY(room_id) REFERENCES rooms (room_id)
);
INSERT INTO "messages" VALUES('workshop',1,'local_00000000-0000-4000-8000-000000000001','ada/worker-00000000000000000000000000000001','Worker1 | Ada''s agent | Claude Code','before','agent',NULL,1893456000000000,NULL,NULL,'6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb');
CREATE TABLE rooms (
	room_id TEXT NOT NULL, 
	display_name TEXT NOT NULL, 
	code TEXT, 
	created_at BIGINT NOT NULL, 
	active_at BIGINT NOT NULL, 
	last_number INTEGER NOT NULL, 
	PRIMARY KEY (room_id)
)
 WITHOUT ROWID

;
INSERT INTO "rooms" VALUES('workshop','workshop',NULL,1893456000000000,1893456000000000,1);
CREATE TABLE sessions (
	room_id TEXT NOT NULL, 
	session_id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	agent_key TEXT NOT NULL, 
	instance_id TEXT NOT NULL, 
	display_name TEXT NOT NULL, 
	name_key TEXT NOT NULL, 
	base_name TEXT NOT NULL, 
	owner_label TEXT NOT NULL, 
	ide_label TEXT NOT NULL, 
	runtime TEXT NOT NULL, 
	actor_label TEXT NOT NULL, 
	repo_branch TEXT, 
	host_id TEXT, 
	host_kind TEXT, 
	host_label TEXT, 
	liveness_capability TEXT, 
	tool_bridge_id TEXT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	last_seen_at BIGINT NOT NULL, 
	ended_at BIGINT, 
	generation INTEGER NOT NULL, 
	token_digest TEXT NOT NULL, 
	PRIMARY KEY (room_id, session_id), 
	FOREIGN KEY(room_id) REFERENCES rooms (room_id)
)
 WITHOUT ROWID

;
INSERT INTO "sessions" VALUES('workshop','local_00000000-0000-4000-8000-000000000001','worker','ada/worker-00000000000000000000000000000001','old','Worker1','worker1','Worker1','Ada','Claude Code','claude-code','Worker1 | Ada''s agent | Claude Code',NULL,NULL,'local','Local device',NULL,NULL,1893456000000000,1893456000000000,1893456000000000,NULL,1,'35a505aaa4ba8dafef15d5e80f06ad7fa7c03412846cd32fe2068ff1556f55d6');
CREATE UNIQUE INDEX messages_by_key ON messages (room_id, agent_key, client_key) WHERE client_key IS NOT NULL;
CREATE INDEX messages_in_threads ON messages (room_id, thread_root, agent_key) WHERE thread_root IS NOT NULL;
CREATE INDEX sessions_by_secret ON sessions (room_id, token_digest);
CREATE INDEX sessions_live ON sessions (room_id, agent_key) WHERE ended_at IS NULL;
COMMIT;
PRAGMA user_version = 1;
