/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virt.h - libvirt in this project's terms
 */
#ifndef KONTEST_VIRT_H
#define KONTEST_VIRT_H

#include <libvirt/libvirt.h>
#include <stdbool.h>

#include "host/embed.h"
#include "host/watch.h"

/**
 * struct virt - a connection with one domain
 * @embed: the embedded driver's root; unused with another URI
 * @embedded: it is used
 * @conn, @dom: libvirt's; NULL when there is none
 * @gone: the domain has ended or is only kept to be looked at
 * @how: in which way, once @gone
 * @callbacks: ids of the registered events, -1: none
 * @timer: makes virt_wait() return
 * @wake, @wake_fd: a change of the journal does too
 */
struct virt {
	struct embed embed;
	bool embedded;
	virConnectPtr conn;
	virDomainPtr dom;
	bool gone;
	enum watch_end how;
	int callbacks[2];
	int timer;
	int wake, wake_fd;
};

/**
 * virt_open() - connect
 * @v: filled in
 * @uri: NULL for the embedded driver, one to a process
 * @qemu: path of the real QEMU
 * @log: file for what libvirt has to say
 * @err: reason of a failure, with the remedy where one is known
 */
int virt_open(struct virt *v, const char *uri, const char *qemu,
	      const char *log, struct error *err);

/* virt_start() - start a transient domain; it ends with the connection */
int virt_start(struct virt *v, const char *xml, struct error *err);

/* virt_wake_for() - a write to the file @path also ends virt_wait(). Where a file
 * system does not tell of writes, or they go through a mapping, the time does */
void virt_wake_for(struct virt *v, const char *path);

/* virt_wait() - let events come in for up to 50 ms */
int virt_wait(struct virt *v, struct error *err);

/* virt_close() - end the domain, disconnect, leave nothing; safe on a zeroed
 * struct and after a failure */
void virt_close(struct virt *v);

#endif
