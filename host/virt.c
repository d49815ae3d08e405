/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/virt.h"

#include <libvirt/virterror.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "results/base/cleanup.h"
#include "results/base/text.h"

/* So long a record may stay unseen where the file says nothing by itself, as
 * under exact mode's mappings. It bounds the clock check's resolution. */
#define WAIT_MS 50

/* struct remedy - what to do about a message of libvirt's */
struct remedy {
	const char *message;
	const char *text;
};

static const struct remedy remedies[] = {
	{ "libvirt_driver_qemu.so",
	  "libvirt's QEMU driver is not installed: install the Debian package libvirt-daemon-driver-qemu (make deps does)" },
	{ "no connection driver available",
	  "libvirt's QEMU driver is not installed: install the Debian package libvirt-daemon-driver-qemu (make deps does)" },
	{ "Failed to read pidfile",
	  "is what was named as QEMU really one?" },
	{ "Failed to parse user",
	  "when run by root, libvirt wants a user of that name: make deps adds it, or: adduser --system --group --no-create-home --home /nonexistent libvirt-qemu; or run kontest as an ordinary user" },
	{ "Failed to connect socket",
	  "is the daemon running, and may you use it? Without --connect no daemon is needed" },
	{ "Unable to find capabilities",
	  "this libvirt cannot ask the QEMU that it was given" },
	{ "does not support machine type",
	  "the profile's machine is none of `qemu-system-x86_64 -machine help`" },
	{ "does not support virt type 'kvm'",
	  "see what `kontest doctor` says about KVM, or choose accel = auto" },
	{ "does not support", "the profile asks for what this QEMU has not" },
	{ "unable to find CPU model",
	  "the profile's cpu-model is none of `qemu-system-x86_64 -cpu help`" },
	{ "Permission denied", "may you read that file, and enter all directories on its path?" },
	{ "No space left on device", "make room there" },
};

static int fail(struct error *err, const char *what)
{
	cleanup_free char *msg = xstrdup(virGetLastErrorMessage());
	const char *remedy = NULL;

	for (char *c = msg; *c; c++)
		if (*c == '\n')
			*c = ' ';
	for (size_t i = 0; !remedy && i < sizeof(remedies) / sizeof(*remedies); i++)
		if (strstr(msg, remedies[i].message))
			remedy = remedies[i].text;
	return error_set(err, 0, "%s: libvirt: %s%s%s%s", what, msg,
			 remedy ? " (" : "", remedy ? remedy : "",
			 remedy ? ")" : "");
}

/* Every message comes back to us as the error of the call that failed. */
static void silence(void *arg, virErrorPtr e)
{
	(void)arg;
	(void)e;
}

static void on_timer(int timer, void *arg)
{
	(void)timer;
	(void)arg;
}

/* It is enough that virt_wait() comes back. */
static void on_change(int watch, int fd, int events, void *arg)
{
	char data[4096];

	(void)watch;
	(void)events;
	(void)arg;
	(void)!read(fd, data, sizeof(data));
}

void virt_wake_for(struct virt *v, const char *path)
{
	cleanup_close int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (fd < 0 || inotify_add_watch(fd, path, IN_MODIFY) < 0)
		return;
	v->wake = virEventAddHandle(fd, VIR_EVENT_HANDLE_READABLE, on_change,
				    NULL, NULL);
	if (v->wake >= 0)
		v->wake_fd = steal_fd(&fd);
}

static void ended(struct virt *v, enum watch_end how)
{
	/* The first reason counts: a crash is followed by a stop. */
	if (v->gone)
		return;
	v->gone = true;
	v->how = how;
}

static int on_lifecycle(virConnectPtr conn, virDomainPtr dom, int event,
			int detail, void *arg)
{
	struct virt *v = arg;

	(void)conn;
	(void)dom;
	if (event == VIR_DOMAIN_EVENT_CRASHED)
		ended(v, WATCH_CRASHED);
	else if (event == VIR_DOMAIN_EVENT_SHUTDOWN)
		ended(v, detail == VIR_DOMAIN_EVENT_SHUTDOWN_HOST ?
		      WATCH_VANISHED : WATCH_POWERED_OFF);
	else if (event == VIR_DOMAIN_EVENT_STOPPED)
		ended(v, detail == VIR_DOMAIN_EVENT_STOPPED_SHUTDOWN ?
		      WATCH_POWERED_OFF :
		      detail == VIR_DOMAIN_EVENT_STOPPED_CRASHED ?
		      WATCH_CRASHED : WATCH_VANISHED);
	return 0;
}

static void on_watchdog(virConnectPtr conn, virDomainPtr dom, int action,
			void *arg)
{
	(void)conn;
	(void)dom;
	(void)action;
	ended(arg, WATCH_WATCHDOG);
}

static int connect_to(struct virt *v, const char *uri, struct error *err)
{
	cleanup_free char *what = xasprintf("connect to '%s'", uri);

	v->conn = virConnectOpen(uri);
	return v->conn ? 0 : fail(err, what);
}

int virt_open(struct virt *v, const char *uri, const char *qemu,
	      const char *log, struct error *err)
{
	cleanup_free char *outputs = xasprintf("3:file:%s", log);

	*v = (struct virt){ .embed.lock_fd = -1, .embedded = !uri,
			    .callbacks = { -1, -1 }, .timer = -1,
			    .wake = -1, .wake_fd = -1 };
	if (setenv("LIBVIRT_LOG_OUTPUTS", outputs, 1) < 0)
		return error_set(err, 0, "set LIBVIRT_LOG_OUTPUTS");
	if (virInitialize() < 0)
		return fail(err, "start libvirt");
	virSetErrorFunc(NULL, silence);
	if (virEventRegisterDefaultImpl() < 0)
		return fail(err, "start libvirt's event loop");
	v->timer = virEventAddTimeout(WAIT_MS, on_timer, NULL, NULL);
	if (v->timer < 0)
		return fail(err, "start libvirt's event loop");
	if (uri)
		return connect_to(v, uri, err);
	if (embed_user(err) < 0 || embed_open(&v->embed, qemu, err) < 0)
		return -1;
	return connect_to(v, v->embed.uri, err);
}

static int listen_to(struct virt *v, struct error *err)
{
	v->callbacks[0] = virConnectDomainEventRegisterAny(v->conn, v->dom,
		VIR_DOMAIN_EVENT_ID_LIFECYCLE,
		VIR_DOMAIN_EVENT_CALLBACK(on_lifecycle), v, NULL);
	v->callbacks[1] = virConnectDomainEventRegisterAny(v->conn, v->dom,
		VIR_DOMAIN_EVENT_ID_WATCHDOG,
		VIR_DOMAIN_EVENT_CALLBACK(on_watchdog), v, NULL);
	if (v->callbacks[0] < 0 || v->callbacks[1] < 0)
		return fail(err, "ask for the VM's events");
	return 0;
}

int virt_start(struct virt *v, const char *xml, struct error *err)
{
	/* Paused, so that no event can come before we listen. The embedded
	 * driver refuses AUTODESTROY; there the shim does the same. */
	unsigned int flags = VIR_DOMAIN_START_PAUSED |
			     (v->embedded ? 0 : VIR_DOMAIN_START_AUTODESTROY);

	v->dom = virDomainCreateXML(v->conn, xml, flags);
	if (!v->dom)
		return fail(err, "start the VM");
	if (v->embedded)
		embed_keep(&v->embed);
	if (listen_to(v, err) < 0)
		return -1;
	if (virDomainResume(v->dom) < 0)
		return fail(err, "let the VM run");
	return 0;
}

int virt_wait(struct virt *v, struct error *err)
{
	if (virEventRunDefaultImpl() < 0)
		return fail(err, "wait for events");
	/* A daemon that went away took the VM with it. */
	if (!v->gone && virConnectIsAlive(v->conn) == 0)
		ended(v, WATCH_VANISHED);
	return 0;
}

void virt_close(struct virt *v)
{
	for (size_t i = 0; v->conn && i < 2; i++)
		if (v->callbacks[i] >= 0)
			virConnectDomainEventDeregisterAny(v->conn,
							   v->callbacks[i]);
	if (v->dom) {
		/* It fails when the VM has ended by itself. */
		virDomainDestroy(v->dom);
		virDomainFree(v->dom);
	}
	if (v->timer > 0)
		virEventRemoveTimeout(v->timer);
	if (v->wake > 0) {
		virEventRemoveHandle(v->wake);
		close(v->wake_fd);
	}
	if (v->conn)
		virConnectClose(v->conn);
	if (v->embedded)
		embed_close(&v->embed);
	*v = (struct virt){ .embed.lock_fd = -1 };
}
