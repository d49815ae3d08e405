/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bundle.h - a run in one file, to be done again by somebody else
 *
 * FILE.kontest is a tar archive in seekable zstd frames (seekable.h): `zstd -d`
 * and tar(1) open it. Its members are regular files, in this order:
 *
 *	manifest.json	everything else, with sizes and digests; a frame of its own
 *	profile.ini, plan.ini, domain-N.xml, journals/ID
 *	pieces/SHA256	up to 1 MiB of one or several disks (full bundles)
 *
 * Members are what the archive holds. Files are what unpacking makes of the
 * pieces: disks, kernels, initramfs. A file is a size and a list of (offset,
 * piece); whatever no piece covers is zero. A piece that occurs in several files,
 * as the root file system in the system disks of all kernels, is there once; the
 * kernel and the initramfs are found again in the system disks that hold them.
 *
 *	{ "format": "kontest-bundle", "version": 1, "kind": "full",
 *	  "run": RUN_ID, "tools": { ... },
 *	  "members": [ { "path": "plan.ini", "role": "plan", "size": 221,
 *			 "mode": "0644", "sha256": "..." }, ... ],
 *	  "files": [ { "path": "system-1.img", "role": "system", "size": 127926272,
 *		       "sha256": "...", "pieces": [ [ 1048576, 7 ], ... ] } ] }
 *
 * The number of a piece is its place in "members", from 0. Kind "results-only"
 * has neither pieces nor files. A reader believes nothing: the archive must hold
 * exactly the manifest's members, in its order, and end where they end.
 */
#ifndef KONTEST_BUNDLE_H
#define KONTEST_BUNDLE_H

#include <stdbool.h>

#include "images/seekable.h"
#include "results/base/digest.h"

#define BUNDLE_MANIFEST "manifest.json"
#define BUNDLE_MANIFEST_MAX (4u << 20)
#define BUNDLE_PIECE_BYTES (1u << 20)
#define BUNDLE_MEMBER_MAX (64u << 20)
#define BUNDLE_FILE_MAX (256ull << 30)	/* all files together, holes and all */
#define BUNDLE_CHECK_MAX (64ull << 30)	/* see bundle_check() */

/* Roles of members and files, as the manifest has them. */
#define BUNDLE_PROFILE "profile"
#define BUNDLE_PLAN "plan"
#define BUNDLE_DOMAIN "domain"
#define BUNDLE_JOURNAL "journal"
#define BUNDLE_PIECE "piece"
#define BUNDLE_SYSTEM "system"
#define BUNDLE_VMLINUZ "vmlinuz"
#define BUNDLE_INITRD "initrd"
#define BUNDLE_WORK "work"
#define BUNDLE_OTHER "other"
#define BUNDLE_SWAP "swap"

/* struct bundle_member - see above; @off: of its header, in the stream */
struct bundle_member {
	char *path, *role;
	uint64_t size, off;
	unsigned int mode;
	char sha256[SHA256_HEX];
};
DEFINE_VECTOR(bundle_members, struct bundle_member)

/* struct bundle_extent - piece @member lies at byte @off of a file */
struct bundle_extent {
	uint64_t off;
	size_t member;
};
DEFINE_VECTOR(bundle_extents, struct bundle_extent)

struct bundle_file {
	char *path, *role;
	uint64_t size;
	char sha256[SHA256_HEX];
	struct bundle_extents extents;
};
DEFINE_VECTOR(bundle_files, struct bundle_file)

/**
 * struct bundle_manifest - all owned
 * @full: it has images, else results only
 * @run_id: of the run
 * @tools: JSON object, text: what made the run
 */
struct bundle_manifest {
	bool full;
	char run_id[UUID_TEXT];
	char *tools;
	struct bundle_members members;
	struct bundle_files files;
};

/* bundle_manifest_text() - as JSON; owned by the caller */
char *bundle_manifest_text(const struct bundle_manifest *m);
/* bundle_manifest_parse() - and check: every name, number, digest and place */
int bundle_manifest_parse(const char *text, size_t len,
			  struct bundle_manifest *m, struct error *err);
void bundle_manifest_free(struct bundle_manifest *m);

/**
 * struct bundle_draft - a bundle that is being put together
 * @m: its manifest so far; @full, @run_id and @tools are the caller's to set
 *
 * Nothing is read twice but images, which must not change before
 * bundle_write(). End with bundle_draft_free().
 */
struct bundle_draft {
	struct bundle_manifest m;
	struct bundle_contents *contents;
	struct bundle_known *known;
};

/* bundle_add_text() - a member out of memory */
void bundle_add_text(struct bundle_draft *d, const char *path, const char *role,
		     const void *data, size_t len);
/* bundle_add_member() - a member that is a copy of the file @source */
int bundle_add_member(struct bundle_draft *d, const char *path,
		      const char *role, const char *source, struct error *err);
/**
 * bundle_add_file() - a file made of pieces
 * @d: draft
 * @path: its name when unpacked
 * @role: one of the above
 * @source: the file
 * @sha256: what it must be, or NULL
 * @embedded: files added later may hold it whole: kernel, initramfs
 * @new_bytes: gets the bytes of pieces that were not there before; may be NULL
 * @err: reason of a failure
 *
 * Return: 0, or -1.
 */
int bundle_add_file(struct bundle_draft *d, const char *path, const char *role,
		    const char *source, const char *sha256, bool embedded,
		    uint64_t *new_bytes, struct error *err);
/**
 * bundle_write() - write it
 * @d: whole draft
 * @path: FILE.kontest; appears whole, or not
 * @packed: gets the compressed bytes of each member (the share of its frames);
 *          as many as the manifest has members; may be NULL
 * @size: gets the bytes of the file
 * @err: reason of a failure
 *
 * Return: 0, or -1.
 */
int bundle_write(struct bundle_draft *d, const char *path, double *packed,
		 uint64_t *size, struct error *err);
void bundle_draft_free(struct bundle_draft *d);

/* struct bundle - a bundle open for reading; @digest: SHA-256 of its manifest,
 * hence the name of all that is in it */
struct bundle {
	char *path;
	struct seekable_reader in;
	struct bundle_manifest m;
	char *text;
	size_t text_len;
	char digest[SHA256_HEX];
};

/* bundle_is() - does the file begin as a bundle does? */
bool bundle_is(const char *path);
/* bundle_open() - read table and manifest; bundle_close() ends it */
int bundle_open(struct bundle *b, const char *path, struct error *err);
void bundle_close(struct bundle *b);
/* bundle_read() - add one member's content to @out, checked; only the frames
 * that it lies in are read */
int bundle_read(struct bundle *b, const struct bundle_member *m,
		struct buf *out, struct error *err);
/**
 * bundle_check() - read everything, check everything, write nothing
 * @b: open bundle
 * @err: the member or file and the reason
 *
 * Every member, and every file as its pieces make it. That means going through
 * the files, holes and all, and through the frames of their pieces: a bundle where
 * that is more than BUNDLE_CHECK_MAX bytes is refused before any of it is done
 * (SHA-256 takes some 0.6 s a GiB; our disks have some GiB).
 *
 * Return: 0, or -1.
 */
int bundle_check(struct bundle *b, struct error *err);
/**
 * bundle_unpack() - check everything and write it
 * @b: open bundle
 * @dir: directory to make; it must not exist
 * @err: the member and the reason
 *
 * Nothing is written but into @dir, which is there whole or not at all. Memory is
 * bounded by a few frames; disk by the free space, which is asked first.
 *
 * Return: 0, or -1.
 */
int bundle_unpack(struct bundle *b, const char *dir, struct error *err);
/* bundle_unpacked() - is @dir still what bundle_unpack() made? Digests are
 * worked out anew */
bool bundle_unpacked(const struct bundle *b, const char *dir);

/* bundle_find() - the first member or file of a role, NULL when there is none */
const struct bundle_member *bundle_find(const struct bundle *b, const char *role);

#endif
