/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * embed.h - the private directory of libvirt's embedded driver, and the shim
 * that ties QEMU's life to ours
 *
 * A root is kontest-vm-XXXXXX in $XDG_RUNTIME_DIR when that is the caller's and
 * short enough, else in /run/user/UID, else in /tmp; never below the boot's own
 * directory: the paths of sockets in it end at 108 bytes.
 *
 *	lock		our process id; flock()ed while we live
 *	emulator	link to this very program, a copy where its file was replaced
 *			meanwhile: what libvirt takes for QEMU
 *	qemu		link to the real QEMU
 *	etc/qemu.conf, cache/, lib/, run/ ...	libvirt's
 *
 * libvirt's embedded driver leaves QEMU running when its process is killed.
 * Therefore libvirt starts "emulator": this program's constructor sees how it
 * was called, leaves a guard behind, and becomes QEMU. The guard waits until
 * QEMU or we have ended; in the second case it kills QEMU and removes the root.
 */
#ifndef KONTEST_EMBED_H
#define KONTEST_EMBED_H

#include "results/base/error.h"

/**
 * struct embed - one root
 * @root: its path; owned
 * @emulator: what the domain's <emulator> must be; owned
 * @uri: to connect to; owned
 * @seed: file that keeps what libvirt found out about this QEMU; owned
 * @lock_fd: open and locked for as long as the root is in use
 */
struct embed {
	char *root;
	char *emulator;
	char *uri;
	char *seed;
	int lock_fd;
};

/**
 * embed_user() - be somebody as whom libvirt can work
 *
 * Run by root, libvirt insists on a user libvirt-qemu, even if QEMU is to run
 * as root. Where there is none, this process goes into a user name space in
 * which root has another number: libvirt then works as it does for an ordinary
 * user, with root's files. Call it before there are threads.
 *
 * Return: 0, or -1 when there is neither such a user nor such a name space.
 */
int embed_user(struct error *err);

/**
 * embed_open() - make a root; roots of dead processes are removed
 * @e: filled in
 * @qemu: path of the real QEMU
 * @err: reason of a failure
 *
 * Return: 0, or -1.
 */
int embed_open(struct embed *e, const char *qemu, struct error *err);

/* embed_keep() - keep what libvirt found out about QEMU for the next root;
 * call it after a VM has started. It saves a second, so failures are ignored */
void embed_keep(const struct embed *e);

/* embed_close() - remove the root; safe on { .lock_fd = -1 } */
void embed_close(struct embed *e);

/* embed_sweep() - remove roots whose process is dead; returns how many */
int embed_sweep(void);

#endif
