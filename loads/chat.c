/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chat.c - what the two sides of chat share
 */
#include "loads/chat.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

int chat_heap_make(struct chat_heap *h, uint64_t bytes, unsigned int passes,
		   uint64_t messages)
{
	long page = sysconf(_SC_PAGESIZE);

	*h = (struct chat_heap){ .lock = PTHREAD_MUTEX_INITIALIZER };
	if (bytes == 0 || messages == 0)
		return 0;
	bytes -= bytes % (uint64_t)page;
	h->at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (h->at == MAP_FAILED)
		return -1;
	h->bytes = bytes;
	h->step = bytes * passes / messages;
	h->step = h->step < 64 ? 64 : h->step;
	h->step = h->step > bytes ? bytes : h->step;
	return 0;
}

/* One word of every page */
static void collect(const struct chat_heap *h)
{
	long page = sysconf(_SC_PAGESIZE);

	for (uint64_t i = 0; i < h->bytes; i += (uint64_t)page)
		(void)*(volatile const char *)(h->at + i);
}

void chat_heap_use(struct chat_heap *h)
{
	if (h->bytes == 0)
		return;
	/* Fails only for a mutex that is none */
	pthread_mutex_lock(&h->lock);
	if (h->next + h->step > h->bytes) {
		collect(h);
		h->next = 0;
	}
	memset(h->at + h->next, 1, h->step);
	h->next += h->step;
	pthread_mutex_unlock(&h->lock);
}

int chat_send(int fd, const struct chat_message *m)
{
	const char *p = (const char *)m;
	size_t left = sizeof(*m);

	while (left > 0) {
		ssize_t n = send(fd, p, left, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		left -= (size_t)n;
	}
	return 1;
}

int chat_receive(int fd, struct chat_message *m)
{
	char *p = (char *)m;
	size_t left = sizeof(*m);

	while (left > 0) {
		ssize_t n = recv(fd, p, left, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0 && left == sizeof(*m))
			return 0;
		if (n == 0)
			errno = EPROTO;
		if (n <= 0)
			return -1;
		p += n;
		left -= (size_t)n;
	}
	return 1;
}

int chat_thread(struct bench_shared *shared, pthread_t *id,
		void *(*main)(void *arg), void *arg)
{
	pthread_attr_t attr;
	int err = pthread_attr_init(&attr);

	if (err == 0)
		err = pthread_attr_setstacksize(&attr, CHAT_STACK_BYTES);
	if (err == 0)
		err = pthread_create(id, &attr, main, arg);
	if (err == 0)
		return 0;
	return bench_fail(shared, err, "chat: start a thread (kernel.threads-max and memory limit them: give fewer rooms)");
}
