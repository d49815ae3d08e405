/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/xz_stream.h"

#include <errno.h>

#include "results/base/text.h"

#define OUT_BYTES ((size_t)1 << 20)
#define THREADS_MAX 8
/* Above this liblzma takes fewer threads instead of more memory. A block of
 * Debian's has 24 MiB, twice that is held for each thread. */
#define MEM_MAX_BYTES ((uint64_t)512 << 20)

int xz_stream_open(struct xz_stream *s, struct archive *outer, struct error *err)
{
	uint32_t cpus = lzma_cputhreads();
	lzma_mt mt = {
		.threads = cpus == 0 ? 1 : cpus > THREADS_MAX ? THREADS_MAX : cpus,
		.memlimit_threading = MEM_MAX_BYTES,
		.memlimit_stop = UINT64_MAX,
		.flags = LZMA_CONCATENATED,
	};
	lzma_ret ret;

	*s = (struct xz_stream){ .outer = outer, .lzma = LZMA_STREAM_INIT };
	ret = lzma_stream_decoder_mt(&s->lzma, &mt);
	if (ret != LZMA_OK)
		return error_set(err, ret == LZMA_MEM_ERROR ? ENOMEM : 0,
				 "liblzma cannot start (%u); is it 5.4 or newer?", ret);
	s->out = xmalloc(OUT_BYTES);
	return 0;
}

void xz_stream_close(struct xz_stream *s)
{
	if (s->out)
		lzma_end(&s->lzma);
	free(s->out);
	s->out = NULL;
}

static int refill(struct archive *inner, struct xz_stream *s)
{
	const void *block;
	la_int64_t off;
	size_t size;
	int ret = archive_read_data_block(s->outer, &block, &size, &off);

	if (ret == ARCHIVE_EOF) {
		s->eof = true;
	} else if (ret == ARCHIVE_OK) {
		s->lzma.next_in = block;
		s->lzma.avail_in = size;
	} else {
		archive_set_error(inner, archive_errno(s->outer), "%s",
				  archive_error_string(s->outer));
		return -1;
	}
	return 0;
}

la_ssize_t xz_stream_read(struct archive *inner, void *stream, const void **block)
{
	struct xz_stream *s = stream;
	lzma_ret ret = LZMA_OK;

	*block = s->out;
	s->lzma.next_out = s->out;
	s->lzma.avail_out = OUT_BYTES;
	while (!s->ended && s->lzma.avail_out) {
		if (!s->lzma.avail_in && !s->eof && refill(inner, s) < 0)
			return -1;
		ret = lzma_code(&s->lzma, s->eof ? LZMA_FINISH : LZMA_RUN);
		if (ret == LZMA_STREAM_END) {
			s->ended = true;
		} else if (ret != LZMA_OK) {
			archive_set_error(inner, EILSEQ, ret == LZMA_BUF_ERROR ?
					  "its xz stream ends too early" :
					  "its xz stream is damaged");
			return -1;
		}
	}
	return (la_ssize_t)(OUT_BYTES - s->lzma.avail_out);
}
