/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chat_server.c - passes on what is said to all others of the room
 *
 * Two threads a connection: one receives and puts each message into the others'
 * queues, one sends what is in its own.
 */
#include "loads/chat.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * struct connection - a user, as the server knows it
 * @queue: messages not yet sent, from @first on, @n of them. No more than a
 *	message of every user of the room can wait: who does not get them does
 *	not take its turn, and all others wait for it
 * @closed: nothing more will come
 */
struct connection {
	struct server *s;
	int fd;
	uint32_t room, user;
	pthread_t receiver, sender;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct chat_message *queue;
	uint32_t first, n;
	bool closed;
};

struct server {
	const struct chat_plan *p;
	struct connection *c;	/* room by room, user by user */
	struct chat_message *queues;
	struct chat_heap heap;
};

static int put(struct connection *c, const struct chat_message *m)
{
	uint32_t size = c->s->p->users;
	bool fits;

	pthread_mutex_lock(&c->lock);
	fits = c->n < size;
	if (fits)
		c->queue[(c->first + c->n++) % size] = *m;
	pthread_cond_signal(&c->more);
	pthread_mutex_unlock(&c->lock);
	return fits ? 0 : bench_fail(c->s->p->shared, EPROTO,
				     "chat: a user's queue is full: somebody spoke out of turn");
}

static int broadcast(const struct connection *from,
		     const struct chat_message *m)
{
	const struct server *s = from->s;
	struct connection *room = s->c + (size_t)from->room * s->p->users;

	for (uint32_t i = 0; i < s->p->users; i++)
		if (i != from->user && put(&room[i], m) != 0)
			return -1;
	return 0;
}

static void *receiver_main(void *arg)
{
	struct connection *c = arg;
	struct chat_message m;
	int got;

	while ((got = chat_receive(c->fd, &m)) > 0) {
		chat_heap_use(&c->s->heap);
		if (m.room != c->room || m.user != c->user) {
			bench_fail(c->s->p->shared, EPROTO,
				   "chat: a message of another user");
			break;
		}
		if (broadcast(c, &m) != 0)
			break;
	}
	if (got < 0)
		bench_fail(c->s->p->shared, errno, "chat: the server receives");
	pthread_mutex_lock(&c->lock);
	c->closed = true;
	pthread_cond_signal(&c->more);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Return: false when nothing more will come */
static bool take(struct connection *c, struct chat_message *m)
{
	bool some;

	pthread_mutex_lock(&c->lock);
	while (c->n == 0 && !c->closed)
		pthread_cond_wait(&c->more, &c->lock);
	some = c->n > 0;
	if (some) {
		*m = c->queue[c->first];
		c->first = (c->first + 1) % c->s->p->users;
		c->n--;
	}
	pthread_mutex_unlock(&c->lock);
	return some;
}

static void *sender_main(void *arg)
{
	struct connection *c = arg;
	struct chat_message m;

	while (take(c, &m)) {
		chat_heap_use(&c->s->heap);
		if (chat_send(c->fd, &m) < 0) {
			bench_fail(c->s->p->shared, errno,
				   "chat: the server sends");
			break;
		}
	}
	return NULL;
}

/* The first message says who it is; the echo lets the user go on */
static int log_in(struct server *s, int fd)
{
	struct connection *c;
	struct chat_message m;
	size_t number;
	int one = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) != 0 ||
	    chat_receive(fd, &m) <= 0)
		return bench_fail(s->p->shared, errno, "chat: log in");
	if (m.room >= s->p->rooms || m.user >= s->p->users)
		return bench_fail(s->p->shared, EPROTO, "chat: log in");
	number = (size_t)m.room * s->p->users + m.user;
	c = &s->c[number];
	if (c->queue)
		return bench_fail(s->p->shared, EPROTO,
				  "chat: a user logs in twice");
	*c = (struct connection){
		.s = s, .fd = fd, .room = m.room, .user = m.user,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.more = PTHREAD_COND_INITIALIZER,
		.queue = s->queues + number * s->p->users,
	};
	if (chat_send(fd, &m) < 0)
		return bench_fail(s->p->shared, errno, "chat: log in");
	return 0;
}

static int accept_all(struct server *s, int listener)
{
	size_t n = (size_t)s->p->rooms * s->p->users;

	for (size_t i = 0; i < n; i++) {
		int fd;

		do
			fd = accept(listener, NULL, NULL);
		while (fd < 0 && errno == EINTR);
		if (fd < 0)
			return bench_fail(s->p->shared, errno,
					  "chat: accept user %zu of %zu", i + 1,
					  n);
		if (log_in(s, fd) != 0)
			return -1;
	}
	for (size_t i = 0; i < n; i++)
		if (chat_thread(s->p->shared, &s->c[i].receiver, receiver_main,
				&s->c[i]) != 0 ||
		    chat_thread(s->p->shared, &s->c[i].sender, sender_main,
				&s->c[i]) != 0)
			return -1;
	return 0;
}

int chat_server(const struct chat_plan *p, int listener)
{
	size_t n = (size_t)p->rooms * p->users;
	uint64_t all = (uint64_t)n * p->messages * p->users;
	/* After a failure its threads still use it, until the process ends */
	static struct server s;

	s.p = p;
	s.c = calloc(n, sizeof(*s.c));
	s.queues = calloc(n * p->users, sizeof(*s.queues));
	/* Hartner's server collected twice in a run */
	if (!s.c || !s.queues ||
	    chat_heap_make(&s.heap, p->heap_bytes, 2, all) != 0) {
		bench_fail(p->shared, errno, "chat: the server's memory");
		return 1;
	}
	if (accept_all(&s, listener) != 0)
		return 1;
	for (size_t i = 0; i < n; i++) {
		pthread_join(s.c[i].receiver, NULL);
		pthread_join(s.c[i].sender, NULL);
	}
	return atomic_load(&p->shared->failed) ? 1 : 0;
}
