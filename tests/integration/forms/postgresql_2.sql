CREATE TABLE letagents_form (
    number integer NOT NULL
);
CREATE TABLE messages (
    room_id text NOT NULL COLLATE pg_catalog."C",
    number integer NOT NULL,
    session_id text COLLATE pg_catalog."C",
    agent_key text COLLATE pg_catalog."C",
    sender text NOT NULL COLLATE pg_catalog."C",
    text text NOT NULL COLLATE pg_catalog."C",
    source text COLLATE pg_catalog."C",
    prompt_kind text COLLATE pg_catalog."C",
    said_at bigint NOT NULL,
    reply_to integer,
    thread_root integer,
    client_key text COLLATE pg_catalog."C"
);
CREATE TABLE rooms (
    room_id text NOT NULL COLLATE pg_catalog."C",
    display_name text NOT NULL COLLATE pg_catalog."C",
    code text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    active_at bigint NOT NULL,
    last_number integer NOT NULL,
    roster_changes integer DEFAULT 0 NOT NULL
);
CREATE TABLE search_rooms (
    room_id text NOT NULL COLLATE pg_catalog."C",
    indexed integer NOT NULL
);
CREATE TABLE search_words (
    room_id text NOT NULL COLLATE pg_catalog."C",
    number integer NOT NULL,
    said_at bigint NOT NULL,
    words tsvector NOT NULL
);
CREATE TABLE sessions (
    room_id text NOT NULL COLLATE pg_catalog."C",
    session_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    agent_key text NOT NULL COLLATE pg_catalog."C",
    instance_id text NOT NULL COLLATE pg_catalog."C",
    display_name text NOT NULL COLLATE pg_catalog."C",
    name_key text NOT NULL COLLATE pg_catalog."C",
    base_name text NOT NULL COLLATE pg_catalog."C",
    owner_label text NOT NULL COLLATE pg_catalog."C",
    ide_label text NOT NULL COLLATE pg_catalog."C",
    runtime text NOT NULL COLLATE pg_catalog."C",
    actor_label text NOT NULL COLLATE pg_catalog."C",
    repo_branch text COLLATE pg_catalog."C",
    host_id text COLLATE pg_catalog."C",
    host_kind text COLLATE pg_catalog."C",
    host_label text COLLATE pg_catalog."C",
    liveness_capability text COLLATE pg_catalog."C",
    tool_bridge_id text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    last_seen_at bigint NOT NULL,
    ended_at bigint,
    generation integer NOT NULL,
    token_digest text NOT NULL COLLATE pg_catalog."C",
    process text COLLATE pg_catalog."C",
    seen_boot text COLLATE pg_catalog."C",
    seen_seconds double precision
);
CREATE TABLE things (
    room_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    number bigint NOT NULL,
    state text COLLATE pg_catalog."C",
    is_open boolean NOT NULL,
    about text COLLATE pg_catalog."C",
    by text COLLATE pg_catalog."C",
    also text COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C"
);
INSERT INTO letagents_form VALUES (2);
INSERT INTO messages VALUES ('workshop', 1, 'local_a2d6c5664e7a139f1885e0da58422a932b2591ef5c8c414bd0dd81666579c1eb', 'ada/worker-00000000000000000000000000000001', 'Worker1 | Ada''s agent | Claude Code', 'before', 'agent', NULL, 1893456000000000, NULL, NULL, '6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb');
INSERT INTO rooms VALUES ('workshop', 'workshop', NULL, 1893456000000000, 1893456000000000, 1, 1);
INSERT INTO sessions VALUES ('workshop', 'local_a2d6c5664e7a139f1885e0da58422a932b2591ef5c8c414bd0dd81666579c1eb', 'worker', 'ada/worker-00000000000000000000000000000001', 'worker_00000000000000000000000000000001', 'Worker1', 'worker1', 'Worker1', 'Ada', 'Claude Code', 'claude-code', 'Worker1 | Ada''s agent | Claude Code', NULL, NULL, 'local', 'Local device', NULL, NULL, 1893456000000000, 1893456000000000, 1893456000000000, NULL, 1, '35a505aaa4ba8dafef15d5e80f06ad7fa7c03412846cd32fe2068ff1556f55d6', NULL, 'boot-1', 1000);
ALTER TABLE ONLY messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (room_id, number);
ALTER TABLE ONLY rooms
    ADD CONSTRAINT rooms_pkey PRIMARY KEY (room_id);
ALTER TABLE ONLY search_rooms
    ADD CONSTRAINT search_rooms_pkey PRIMARY KEY (room_id);
ALTER TABLE ONLY search_words
    ADD CONSTRAINT search_words_pkey PRIMARY KEY (room_id, number);
ALTER TABLE ONLY sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (room_id, session_id);
ALTER TABLE ONLY things
    ADD CONSTRAINT things_pkey PRIMARY KEY (room_id, kind, key);
CREATE UNIQUE INDEX messages_by_key ON messages USING btree (room_id, agent_key, client_key) WHERE (client_key IS NOT NULL);
CREATE INDEX messages_in_threads ON messages USING btree (room_id, thread_root, agent_key) WHERE (thread_root IS NOT NULL);
CREATE INDEX search_by_time ON search_words USING btree (room_id, said_at);
CREATE INDEX search_by_word ON search_words USING gin (words);
CREATE INDEX sessions_by_secret ON sessions USING btree (room_id, token_digest);
CREATE INDEX sessions_live ON sessions USING btree (room_id, agent_key) WHERE (ended_at IS NULL);
CREATE INDEX things_by_about ON things USING btree (room_id, kind, about, number) WHERE (about IS NOT NULL);
CREATE INDEX things_by_also ON things USING btree (room_id, kind, also, number) WHERE (also IS NOT NULL);
CREATE INDEX things_by_by ON things USING btree (room_id, kind, by, number) WHERE (by IS NOT NULL);
CREATE INDEX things_by_number ON things USING btree (room_id, kind, number);
CREATE INDEX things_by_state ON things USING btree (room_id, kind, state, number) WHERE (state IS NOT NULL);
CREATE UNIQUE INDEX things_one_work_lease ON things USING btree (room_id, about) WHERE ((kind = 'work_lease'::text) AND is_open);
CREATE INDEX things_open ON things USING btree (room_id, kind, number) WHERE is_open;
ALTER TABLE ONLY messages
    ADD CONSTRAINT messages_room_id_fkey FOREIGN KEY (room_id) REFERENCES rooms(room_id);
ALTER TABLE ONLY messages
    ADD CONSTRAINT messages_room_id_reply_to_fkey FOREIGN KEY (room_id, reply_to) REFERENCES messages(room_id, number);
ALTER TABLE ONLY messages
    ADD CONSTRAINT messages_room_id_thread_root_fkey FOREIGN KEY (room_id, thread_root) REFERENCES messages(room_id, number);
ALTER TABLE ONLY sessions
    ADD CONSTRAINT sessions_room_id_fkey FOREIGN KEY (room_id) REFERENCES rooms(room_id);
ALTER TABLE ONLY things
    ADD CONSTRAINT things_room_id_fkey FOREIGN KEY (room_id) REFERENCES rooms(room_id);
