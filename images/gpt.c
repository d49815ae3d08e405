/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/gpt.h"

#include <libfdisk.h>

#include "results/base/cleanup.h"
#include "results/base/digest.h"

static void unref_context(struct fdisk_context **c)
{
	fdisk_unref_context(*c);
}

static void unref_partition(struct fdisk_partition **p)
{
	fdisk_unref_partition(*p);
}

static void unref_parttype(struct fdisk_parttype **t)
{
	fdisk_unref_parttype(*t);
}

static int add_part(struct fdisk_context *cxt, const char *path, size_t number,
		    const struct gpt_part *g, struct error *err)
{
	CLEANUP(unref_partition) struct fdisk_partition *pa = fdisk_new_partition();
	CLEANUP(unref_parttype) struct fdisk_parttype *type =
		fdisk_label_get_parttype_from_string(fdisk_get_label(cxt, NULL),
						     g->type);
	char uuid[UUID_TEXT];
	int ret;

	if (!pa || !type)
		return error_set(err, 0, "libfdisk does not know partition type %s",
				 g->type);
	uuid_text(g->uuid, uuid);
	ret = fdisk_partition_set_partno(pa, number);
	if (!ret)
		ret = fdisk_partition_set_start(pa, g->start / GPT_SECTOR);
	if (!ret)
		ret = fdisk_partition_set_size(pa, g->size / GPT_SECTOR);
	/* else libfdisk rounds to its own idea of a good boundary */
	if (!ret)
		ret = fdisk_partition_size_explicit(pa, 1);
	if (!ret)
		ret = fdisk_partition_set_type(pa, type);
	if (!ret)
		ret = fdisk_partition_set_name(pa, g->name);
	if (!ret)
		ret = fdisk_partition_set_uuid(pa, uuid);
	if (!ret)
		ret = fdisk_add_partition(cxt, pa, NULL);
	if (ret)
		return error_set(err, -ret, "add partition %zu (%s) to '%s'",
				 number + 1, g->name, path);
	return 0;
}

int gpt_write(int fd, const char *path, const uint8_t disk_uuid[16],
	      const struct gpt_part *parts, size_t n, struct error *err)
{
	CLEANUP(unref_context) struct fdisk_context *cxt = fdisk_new_context();
	char uuid[UUID_TEXT];
	int ret;

	if (!cxt)
		return error_set(err, 0, "libfdisk cannot be set up");
	uuid_text(disk_uuid, uuid);
	ret = fdisk_disable_dialogs(cxt, 1);
	/* what the host says of the file's disk is no business of the image's */
	if (!ret)
		ret = fdisk_save_user_sector_size(cxt, GPT_SECTOR, GPT_SECTOR);
	if (!ret)
		ret = fdisk_assign_device_by_fd(cxt, fd, path, 0);
	if (!ret)
		ret = fdisk_create_disklabel(cxt, "gpt");
	if (!ret)
		ret = fdisk_set_disklabel_id_from_string(cxt, uuid);
	if (ret)
		return error_set(err, -ret, "begin a partition table on '%s'",
				 path);
	for (size_t i = 0; i < n; i++)
		if (add_part(cxt, path, i, &parts[i], err) < 0)
			return -1;
	ret = fdisk_write_disklabel(cxt);
	if (ret)
		return error_set(err, -ret, "write the partition table of '%s'",
				 path);
	/* not synced: the image is, as a whole, when it is done */
	ret = fdisk_deassign_device(cxt, 1);
	if (ret)
		return error_set(err, -ret, "finish the partition table of '%s'",
				 path);
	return 0;
}
