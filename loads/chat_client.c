/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chat_client.c - the users of all rooms
 *
 * A user sends when (messages that it has sent + received) modulo the users of
 * its room is its own number: VolanoMark's rule. So the users take turns, and in
 * every room one message is under way at a time.
 */
#include "loads/chat.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/**
 * struct user - one
 * @sent, @received: messages so far
 * @started: the chat has begun (the window is open)
 * @end_ns: when it had received its last
 */
struct user {
	struct clients *all;
	uint32_t room, number;
	int fd;
	pthread_t receiver, sender;
	pthread_mutex_t lock;
	pthread_cond_t turn;
	uint32_t sent, received;
	bool started;
	uint64_t end_ns;
};

struct clients {
	const struct chat_plan *p;
	struct user *u;
	struct chat_heap heap;
};

static void make_message(const struct user *u, uint32_t number,
			 struct chat_message *m)
{
	*m = (struct chat_message){ .room = u->room, .user = u->number,
				    .number = number };
	memset(m->text, 'a' + (int)(number % 26), sizeof(m->text));
}

static bool my_turn(const struct user *u)
{
	return u->started &&
	       (u->sent + u->received) % u->all->p->users == u->number;
}

static void *sender_main(void *arg)
{
	struct user *u = arg;
	struct chat_message m;

	for (uint32_t i = 0; i < u->all->p->messages; i++) {
		pthread_mutex_lock(&u->lock);
		while (!my_turn(u))
			pthread_cond_wait(&u->turn, &u->lock);
		u->sent++;
		pthread_mutex_unlock(&u->lock);
		make_message(u, i + 1, &m);
		chat_heap_use(&u->all->heap);
		if (chat_send(u->fd, &m) < 0) {
			bench_fail(u->all->p->shared, errno,
				   "chat: a user sends");
			break;
		}
	}
	return NULL;
}

/* What a user gets is of its own room, from another, and whole */
static int check_message(const struct user *u, const struct chat_message *m)
{
	struct user other = { .room = u->room, .number = m->user };
	struct chat_message want;

	make_message(&other, m->number, &want);
	if (m->user == u->number || m->user >= u->all->p->users ||
	    memcmp(m, &want, sizeof(want)) != 0)
		return bench_fail(u->all->p->shared, EPROTO,
				  "chat: a user got what nobody said");
	return 0;
}

static void *receiver_main(void *arg)
{
	struct user *u = arg;
	const struct chat_plan *p = u->all->p;
	uint32_t n = p->messages * (p->users - 1);
	struct chat_message m;

	for (uint32_t i = 0; i < n; i++) {
		int got = chat_receive(u->fd, &m);

		if (got <= 0) {
			bench_fail(p->shared, got < 0 ? errno : EPROTO,
				   "chat: a user receives");
			break;
		}
		if (check_message(u, &m) != 0)
			break;
		chat_heap_use(&u->all->heap);
		pthread_mutex_lock(&u->lock);
		u->received++;
		pthread_cond_signal(&u->turn);
		pthread_mutex_unlock(&u->lock);
	}
	u->end_ns = bench_now_ns();
	return NULL;
}

/* Connected, and known to the server */
static int join_room(struct user *u)
{
	const struct chat_plan *p = u->all->p;
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(p->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct chat_message m;
	int one = 1;

	u->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (u->fd < 0 ||
	    connect(u->fd, (const struct sockaddr *)&to, sizeof(to)) != 0 ||
	    setsockopt(u->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) != 0)
		return bench_fail(p->shared, errno, "chat: connect user %u of room %u",
				  u->number, u->room);
	make_message(u, 0, &m);
	if (chat_send(u->fd, &m) < 0 || chat_receive(u->fd, &m) <= 0)
		return bench_fail(p->shared, errno, "chat: user %u of room %u logs in",
				  u->number, u->room);
	return 0;
}

static int make_users(struct clients *c)
{
	const struct chat_plan *p = c->p;
	size_t n = (size_t)p->rooms * p->users;

	for (size_t i = 0; i < n; i++) {
		c->u[i] = (struct user){
			.all = c, .room = (uint32_t)(i / p->users),
			.number = (uint32_t)(i % p->users), .fd = -1,
			.lock = PTHREAD_MUTEX_INITIALIZER,
			.turn = PTHREAD_COND_INITIALIZER,
		};
		if (join_room(&c->u[i]) != 0)
			return -1;
	}
	for (size_t i = 0; i < n; i++)
		if (chat_thread(p->shared, &c->u[i].receiver, receiver_main,
				&c->u[i]) != 0 ||
		    chat_thread(p->shared, &c->u[i].sender, sender_main,
				&c->u[i]) != 0)
			return -1;
	return 0;
}

/* Return: when the chat began */
static uint64_t start(struct clients *c)
{
	uint64_t now = bench_now_ns();

	for (size_t i = 0; i < (size_t)c->p->rooms * c->p->users; i++) {
		struct user *u = &c->u[i];

		pthread_mutex_lock(&u->lock);
		u->started = true;
		pthread_cond_signal(&u->turn);
		pthread_mutex_unlock(&u->lock);
	}
	return now;
}

static int check_totals(const struct chat_plan *p, uint64_t sent,
			uint64_t received)
{
	uint64_t want = (uint64_t)p->rooms * p->users * p->messages;

	if (sent == want && received == want * (p->users - 1))
		return 0;
	return bench_fail(p->shared, EPROTO, "chat: %llu of %llu messages sent, %llu of %llu received",
			  (unsigned long long)sent, (unsigned long long)want,
			  (unsigned long long)received,
			  (unsigned long long)want * (p->users - 1));
}

int chat_clients(const struct chat_plan *p, uint64_t *sent, uint64_t *received,
		 uint64_t *elapsed_ns)
{
	size_t n = (size_t)p->rooms * p->users;
	uint64_t all = (uint64_t)n * p->messages * p->users, begin, end = 0;
	struct clients c = { .p = p, .u = calloc(n, sizeof(*c.u)) };

	*sent = *received = 0;
	/* Hartner's client collected about 26 times in a run */
	if (!c.u || chat_heap_make(&c.heap, p->heap_bytes, 26, all) != 0)
		return bench_fail(p->shared, errno, "chat: the users' memory");
	/* What is left on a failure ends with the process */
	if (make_users(&c) != 0)
		return -1;
	bench_ready(p->shared);
	begin = start(&c);
	for (size_t i = 0; i < n; i++) {
		struct user *u = &c.u[i];

		pthread_join(u->receiver, NULL);
		/* Its turn may never come when others have failed */
		if (atomic_load(&p->shared->failed))
			return -1;
		pthread_join(u->sender, NULL);
		*sent += u->sent;
		*received += u->received;
		end = u->end_ns > end ? u->end_ns : end;
		if (close(u->fd) != 0)
			return bench_fail(p->shared, errno, "chat: leave");
	}
	*elapsed_ns = end - begin;
	free(c.u);
	return check_totals(p, *sent, *received);
}
