/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/minisign.h"
#include "results/base/cleanup.h"
#include "results/base/proc.h"
#include "tests/make_journal.h"

static char *dir;

static char *in_dir(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

/* minisign's own program; its exit status. */
static int minisign(const char *const args[], const char *input)
{
	const char *argv[16] = { "minisign" };
	struct buf in = { 0 };
	struct proc_opts o = { .cwd = dir, .timeout_s = 120 };
	struct error err = { 0 };
	int status = -1;

	if (input) {
		buf_adds(&in, input);
		o.in = &in;
	}
	o.status = &status;
	for (size_t i = 0; args[i]; i++)
		argv[i + 1] = args[i];
	must(proc_run(argv, &o, &err), &err);
	buf_free(&in);
	return status;
}

#define MINISIGN(...) minisign((const char *const[]){ __VA_ARGS__, NULL }, NULL)

static int start(void **state)
{
	(void)state;
	dir = scratch_dir();
	return MINISIGN("-G", "-W", "-p", "a.pub", "-s", "a.key") ||
	       MINISIGN("-G", "-W", "-p", "b.pub", "-s", "b.key");
}

static int end(void **state)
{
	struct error err = { 0 };

	(void)state;
	must(remove_tree(dir, &err), &err);
	free(dir);
	return 0;
}

static void write_text(const char *name, const char *text)
{
	cleanup_free char *path = in_dir(name);
	struct error err = { 0 };

	must(file_write(path, text, strlen(text), &err), &err);
}

static void read_public(const char *name, struct minisign_public *p)
{
	cleanup_free char *path = in_dir(name);
	struct error err = { 0 };

	must(minisign_public_read(path, p, &err), &err);
}

static void sign(const char *name, const char *key)
{
	cleanup_free char *path = in_dir(name), *key_path = in_dir(key);
	struct minisign_secret s;
	struct error err = { 0 };

	must(minisign_secret_read(key_path, NULL, NULL, &s, &err), &err);
	must(minisign_sign(path, &s, 1054598400, &err), &err);
	minisign_wipe(&s);
	for (size_t i = 0; i < sizeof(s); i++)
		assert_int_equal(((const char *)&s)[i], 0);
}

static void minisign_checks_ours(void **state)
{
	cleanup_free char *path = in_dir("f"), *signature = in_dir("f.minisig");
	char comment[MINISIGN_COMMENT_MAX], id[MINISIGN_ID_HEX], key_id[MINISIGN_ID_HEX];
	struct minisign_public a;
	struct error err = { 0 };

	(void)state;
	write_text("f", "what is signed");
	assert_int_equal(minisign_signer(path, id, &err), 0);
	sign("f", "a.key");
	assert_int_equal(MINISIGN("-V", "-p", "a.pub", "-m", "f"), 0);
	assert_int_not_equal(MINISIGN("-V", "-p", "b.pub", "-m", "f"), 0);
	read_public("a.pub", &a);
	must(minisign_verify(path, &a, comment, &err), &err);
	assert_string_equal(comment, "timestamp:1054598400 file:f hashed");
	assert_int_equal(minisign_signer(path, id, &err), 1);
	minisign_id(a.id, key_id);
	assert_string_equal(id, key_id);
	write_text("f", "what is signeD");
	assert_int_not_equal(MINISIGN("-V", "-p", "a.pub", "-m", "f"), 0);
	assert_int_equal(minisign_verify(path, &a, comment, &err), -1);
	assert_non_null(strstr(err.text, "is not what was signed"));
	unlink(signature);
}

static void ours_checks_minisigns(void **state)
{
	cleanup_free char *path = in_dir("g"), *pub = in_dir("a.pub"), *text = NULL;
	char comment[MINISIGN_COMMENT_MAX], *line;
	struct minisign_public a, b, again;
	struct error err = { 0 };

	(void)state;
	write_text("g", "");
	assert_int_equal(MINISIGN("-S", "-s", "a.key", "-t", "by hand", "-m", "g"), 0);
	read_public("a.pub", &a);
	read_public("b.pub", &b);
	must(minisign_verify(path, &a, comment, &err), &err);
	assert_string_equal(comment, "by hand");
	assert_int_equal(minisign_verify(path, &b, comment, &err), -1);
	assert_non_null(strstr(err.text, "was signed by the key"));
	/* The base64 line alone will do. */
	text = slurp(pub);
	line = strchr(text, '\n') + 1;
	line[strcspn(line, "\n")] = '\0';
	must(minisign_public_read(line, &again, &err), &err);
	assert_memory_equal(&again, &a, sizeof(a));
}

static void old_format_is_named(void **state)
{
	cleanup_free char *path = in_dir("h");
	char comment[MINISIGN_COMMENT_MAX];
	struct minisign_public a;
	struct error err = { 0 };

	(void)state;
	write_text("h", "x");
	assert_int_equal(MINISIGN("-S", "-l", "-s", "a.key", "-m", "h"), 0);
	read_public("a.pub", &a);
	assert_int_equal(minisign_verify(path, &a, comment, &err), -1);
	assert_non_null(strstr(err.text, "old format"));
}

/* No byte of a signature but of the untrusted comment may change. */
static void any_byte_of_a_signature(void **state)
{
	cleanup_free char *path = in_dir("i"), *file = in_dir("i.minisig"), *text = NULL;
	char comment[MINISIGN_COMMENT_MAX];
	struct minisign_public a;
	struct error err = { 0 };
	size_t first, len;

	(void)state;
	write_text("i", "x");
	sign("i", "a.key");
	read_public("a.pub", &a);
	text = slurp(file);
	len = strlen(text);
	first = (size_t)(strchr(text, '\n') - text);
	for (size_t i = first; i < len; i++) {
		char old = text[i];
		int fd = open(file, O_WRONLY);

		/* The last newline may be missing, no more. */
		text[i] = old == 'x' ? 'y' : 'x';
		assert_int_equal(write(fd, text, len), len);
		close(fd);
		assert_int_equal(minisign_verify(path, &a, comment, &err), -1);
		text[i] = old;
	}
}

static char *password(void *data, struct error *err)
{
	(void)err;
	return xstrdup(data);
}

/* minisign asks the terminal for a password, or standard input without one. */
static void key_with_a_password(void **state)
{
	cleanup_free char *key = in_dir("c.key"), *path = in_dir("k");
	struct minisign_secret s;
	struct error err = { 0 };

	(void)state;
	assert_int_equal(minisign((const char *const[]){ "-G", "-p", "c.pub", "-s", "c.key", NULL },
				  "open sesame\nopen sesame\n"), 0);
	assert_int_equal(minisign_secret_read(key, NULL, NULL, &s, &err), -1);
	assert_non_null(strstr(err.text, "--password-file"));
	assert_int_equal(minisign_secret_read(key, password, "sesame", &s, &err), -1);
	assert_non_null(strstr(err.text, "that is not its password"));
	must(minisign_secret_read(key, password, "open sesame", &s, &err), &err);
	write_text("k", "x");
	must(minisign_sign(path, &s, 1, &err), &err);
	assert_int_equal(MINISIGN("-V", "-p", "c.pub", "-m", "k"), 0);
	minisign_wipe(&s);
}

static void no_keys(void **state)
{
	cleanup_free char *path = in_dir("nokey"), *key = in_dir("a.key"), *pub = in_dir("a.pub");
	struct minisign_public p;
	struct minisign_secret s;
	struct error err = { 0 };

	(void)state;
	write_text("nokey", "untrusted comment: no\nAAAA\n");
	assert_int_equal(minisign_public_read(path, &p, &err), -1);
	assert_non_null(strstr(err.text, "no public key"));
	assert_int_equal(minisign_secret_read(path, NULL, NULL, &s, &err), -1);
	assert_non_null(strstr(err.text, "no secret key"));
	assert_int_equal(minisign_public_read(key, &p, &err), -1);
	assert_int_equal(minisign_secret_read(pub, NULL, NULL, &s, &err), -1);
	assert_int_equal(minisign_public_read("/nonexistent", &p, &err), -1);
	assert_non_null(strstr(err.text, "public key: open"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(minisign_checks_ours),
		cmocka_unit_test(ours_checks_minisigns),
		cmocka_unit_test(old_format_is_named),
		cmocka_unit_test(any_byte_of_a_signature),
		cmocka_unit_test(key_with_a_password),
		cmocka_unit_test(no_keys),
	};

	return cmocka_run_group_tests(tests, start, end);
}
