BEGIN TRANSACTION;
CREATE TABLE account_states (
	account_id TEXT NOT NULL, 
	number BIGINT NOT NULL, 
	document TEXT NOT NULL, 
	PRIMARY KEY (account_id)
);
CREATE TABLE account_tokens (
	digest TEXT NOT NULL, 
	account_id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	expires_at BIGINT, 
	used_at BIGINT, 
	revoked_at BIGINT, 
	PRIMARY KEY (digest), 
	FOREIGN KEY(account_id) REFERENCES accounts (account_id)
);
CREATE TABLE accounts (
	account_id TEXT NOT NULL, 
	login TEXT NOT NULL, 
	login_key TEXT NOT NULL, 
	display_name TEXT, 
	provider TEXT NOT NULL, 
	provider_user_id TEXT, 
	avatar_url TEXT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	PRIMARY KEY (account_id), 
	UNIQUE (login_key)
);
CREATE TABLE agents (
	"key" TEXT NOT NULL, 
	agent_id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	display_name TEXT NOT NULL, 
	owner_id TEXT NOT NULL, 
	owner_login TEXT NOT NULL, 
	owner_label TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	PRIMARY KEY ("key"), 
	FOREIGN KEY(owner_id) REFERENCES accounts (account_id)
);
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
INSERT INTO "messages" VALUES('workshop',1,'local_a2d6c5664e7a139f1885e0da58422a932b2591ef5c8c414bd0dd81666579c1eb','ada/worker-00000000000000000000000000000001','Worker1 | Ada''s agent | Claude Code','before','agent',NULL,1893456000000000,NULL,NULL,'6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb');
CREATE TABLE room_members (
	room_id TEXT NOT NULL, 
	account_id TEXT NOT NULL, 
	is_admin BOOLEAN NOT NULL, 
	entered_at BIGINT NOT NULL, 
	PRIMARY KEY (room_id, account_id), 
	FOREIGN KEY(account_id) REFERENCES accounts (account_id)
);
CREATE TABLE rooms (
	room_id TEXT NOT NULL, 
	display_name TEXT NOT NULL, 
	code TEXT, 
	created_at BIGINT NOT NULL, 
	active_at BIGINT NOT NULL, 
	last_number INTEGER NOT NULL, 
	roster_changes INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY (room_id)
)
 WITHOUT ROWID

;
INSERT INTO "rooms" VALUES('workshop','workshop',NULL,1893456000000000,1893456000000000,1,1);
CREATE TABLE server_proofs (
	proof TEXT NOT NULL, 
	written_at BIGINT NOT NULL, 
	PRIMARY KEY (proof)
);
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
	process TEXT, 
	seen_boot TEXT, 
	seen_seconds FLOAT, 
	PRIMARY KEY (room_id, session_id), 
	FOREIGN KEY(room_id) REFERENCES rooms (room_id)
)
 WITHOUT ROWID

;
INSERT INTO "sessions" VALUES('workshop','local_a2d6c5664e7a139f1885e0da58422a932b2591ef5c8c414bd0dd81666579c1eb','worker','ada/worker-00000000000000000000000000000001','worker_00000000000000000000000000000001','Worker1','worker1','Worker1','Ada','Claude Code','claude-code','Worker1 | Ada''s agent | Claude Code',NULL,NULL,'local','Local device',NULL,NULL,1893456000000000,1893456000000000,1893456000000000,NULL,1,'35a505aaa4ba8dafef15d5e80f06ad7fa7c03412846cd32fe2068ff1556f55d6',NULL,'boot-1',1000.0);
CREATE TABLE things (
	room_id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	number BIGINT NOT NULL, 
	state TEXT, 
	is_open BOOLEAN NOT NULL, 
	about TEXT, 
	"by" TEXT, 
	also TEXT, 
	value TEXT NOT NULL, 
	PRIMARY KEY (room_id, kind, "key"), 
	FOREIGN KEY(room_id) REFERENCES rooms (room_id)
);
CREATE UNIQUE INDEX accounts_elsewhere ON accounts (provider, provider_user_id) WHERE provider_user_id IS NOT NULL;
CREATE INDEX account_tokens_by_account ON account_tokens (account_id);
CREATE INDEX agents_by_owner ON agents (owner_id);
CREATE UNIQUE INDEX messages_by_key ON messages (room_id, agent_key, client_key) WHERE client_key IS NOT NULL;
CREATE INDEX messages_in_threads ON messages (room_id, thread_root, agent_key) WHERE thread_root IS NOT NULL;
CREATE INDEX room_members_admins ON room_members (room_id) WHERE is_admin;
CREATE INDEX room_members_by_account ON room_members (account_id);
CREATE INDEX sessions_by_secret ON sessions (room_id, token_digest);
CREATE INDEX sessions_live ON sessions (room_id, agent_key) WHERE ended_at IS NULL;
CREATE INDEX things_by_about ON things (room_id, kind, about, number) WHERE about IS NOT NULL;
CREATE INDEX things_by_also ON things (room_id, kind, also, number) WHERE also IS NOT NULL;
CREATE INDEX things_by_by ON things (room_id, kind, "by", number) WHERE "by" IS NOT NULL;
CREATE INDEX things_by_number ON things (room_id, kind, number);
CREATE INDEX things_by_state ON things (room_id, kind, state, number) WHERE state IS NOT NULL;
CREATE UNIQUE INDEX things_one_work_lease ON things (room_id, about) WHERE kind = 'work_lease' AND is_open = 1;
CREATE INDEX things_open ON things (room_id, kind, number) WHERE is_open;
COMMIT;
PRAGMA user_version = 3;
