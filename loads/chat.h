/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chat.h - what the two sides of chat share: the message, threads, the heap
 */
#ifndef KONTEST_LOADS_CHAT_H
#define KONTEST_LOADS_CHAT_H

#include <pthread.h>

#include "loads/bench.h"

#define CHAT_MESSAGE_BYTES 100	/* on the wire, as Bill Hartner counted */
#define CHAT_TEXT_BYTES 60	/* of them said by the user, as in VolanoMark */
#define CHAT_STACK_BYTES (32 * 1024)

/**
 * struct chat_message - the first is the user's logging in, @number is 0 then
 * @room, @user: who says it, both from 0
 * @number: of the message, from 1 within the user's
 */
struct chat_message {
	uint32_t room, user, number;
	char text[CHAT_TEXT_BYTES];
	char header[CHAT_MESSAGE_BYTES - CHAT_TEXT_BYTES - 12];
};

_Static_assert(sizeof(struct chat_message) == CHAT_MESSAGE_BYTES, "message");

/**
 * struct chat_plan - how much of what
 * @port: of the server, on 127.0.0.1
 */
struct chat_plan {
	struct bench_shared *shared;
	uint32_t rooms, users, messages;
	uint64_t heap_bytes;
	uint16_t port;
};

/*
 * struct chat_heap - memory that a side of the chat uses up and comes back to,
 * as a Java machine's heap does
 * @bytes: of it; 0: there is none
 * @step: bytes used up by a message
 */
struct chat_heap {
	char *at;
	uint64_t bytes, step, next;
	pthread_mutex_t lock;
};

/**
 * chat_heap_make() - reserve it; nothing of it is touched yet
 * @bytes: 0: no heap
 * @passes: how often @messages use all of it up
 *
 * Return: 0, or -1 (errno).
 */
int chat_heap_make(struct chat_heap *h, uint64_t bytes, unsigned int passes,
		   uint64_t messages);
/* chat_heap_use() - a message's worth is written; at the end of the heap all of
 * it is looked at, as a collection does, while the others wait */
void chat_heap_use(struct chat_heap *h);

/* chat_send(), chat_receive() - one whole message. Return: 1; 0 at the end of
 * the connection; -1 with errno */
int chat_send(int fd, const struct chat_message *m);
int chat_receive(int fd, struct chat_message *m);

/**
 * chat_thread() - start a thread with a small stack
 *
 * Return: 0, or -1 after bench_fail().
 */
int chat_thread(struct bench_shared *shared, pthread_t *id,
		void *(*main)(void *arg), void *arg);

/**
 * chat_server() - accept all users, pass on what they say until they are gone
 * @p: without a port
 * @listener: a socket that listens
 *
 * In a process of its own. Return: its exit status.
 */
int chat_server(const struct chat_plan *p, int listener);

/**
 * chat_clients() - log in, get ready, chat
 * @p: with a port
 * @sent, @received: messages of all users
 * @elapsed_ns: from the window's opening to the last message
 *
 * Return: 0, or -1 after bench_fail().
 */
int chat_clients(const struct chat_plan *p, uint64_t *sent, uint64_t *received,
		 uint64_t *elapsed_ns);

#endif
