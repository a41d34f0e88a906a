BEGIN TRANSACTION;
CREATE TABLE bindings (
	entry_id TEXT NOT NULL, 
	epoch INTEGER NOT NULL, 
	value TEXT, 
	PRIMARY KEY (entry_id)
);
INSERT INTO "bindings" VALUES('e1',1,'{"entry_id":"e1","room_id":"workshop","work_attempt_id":"w1","execution_id":"x1","session_id":"s1","origin":"https://letagents.example","epoch":1,"updated_at":1893501015123000,"cursor":"msg_12"}');
CREATE TABLE effects (
	effect_id TEXT NOT NULL, 
	entry_id TEXT NOT NULL, 
	execution_id TEXT NOT NULL, 
	turn_id TEXT NOT NULL, 
	request_id TEXT NOT NULL, 
	is_settled BOOLEAN NOT NULL, 
	request_bytes INTEGER NOT NULL, 
	result_bytes INTEGER NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (effect_id)
);
INSERT INTO "effects" VALUES('effect-e1-t1-1','e1','x1','t1','1',0,20,0,'{"effect_id":"effect-e1-t1-1","key":{"entry_id":"e1","execution_id":"x1","turn_id":"t1","request_id":"1"},"request":{"room_id":"workshop","tool":"send_message","text":"{\"reply_to\":\"msg_7\"}","replies_to":"msg_7"},"state":"prepared","created_at":1893501015123000,"updated_at":1893501015123000}');
CREATE TABLE entries (
	entry_id TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (entry_id)
);
INSERT INTO "entries" VALUES('e1','{"entry_id":"e1","room_id":"workshop","display_name":"Ada","provider":"claude-code","created_at":1893501015123000,"desired":"running","model":"m","charter":"Be kind.","work_attempt_id":"w1","workspace":"/work/ada","continuation_id":"c1","execution":{"execution_id":"x1","work_attempt_id":"w1","generation":7,"started_at":1893501015123000,"ended_at":1893501015123000,"ending":"crashed"},"history":{"ends":[1893501015123000,1893501015123000],"failures":2,"not_before":1893501015123000,"pending":"a1"},"last_error":"It ended."}');
CREATE TABLE fence (
	id INTEGER NOT NULL, 
	generation INTEGER NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "fence" VALUES(1,3);
CREATE TABLE ingress (
	entry_id TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (entry_id)
);
INSERT INTO "ingress" VALUES('e1','{"entry_id":"e1","room_id":"workshop","cursor":"msg_7"}');
CREATE TABLE items (
	item_id TEXT NOT NULL, 
	entry_id TEXT NOT NULL, 
	sequence INTEGER NOT NULL, 
	is_over BOOLEAN NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (item_id)
);
INSERT INTO "items" VALUES('supervised-room:e1:workshop:msg_1','e1',1,0,'{"item_id":"supervised-room:e1:workshop:msg_1","entry_id":"e1","room_id":"workshop","message_id":"msg_1","sequence":1}');
CREATE UNIQUE INDEX effects_by_request ON effects (entry_id, turn_id, request_id, execution_id);
CREATE INDEX effects_open ON effects (entry_id) WHERE is_settled IS 0;
CREATE UNIQUE INDEX items_in_order ON items (entry_id, sequence);
CREATE INDEX items_open ON items (entry_id, sequence) WHERE is_over IS 0;
COMMIT;
PRAGMA user_version = 1;
