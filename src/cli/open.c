#include "open.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "system.h"

struct sketch_file *open_sketch(const char *name, enum sketch_access access)
{
	bool standard = strcmp(name, "-") == 0;
	int fd = standard ? STDIN_FILENO : open(name, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	struct sketch_file *file = NULL;
	struct sketch_error error;

	if (fd < 0) {
		message_errno(name, errno);
		return NULL;
	}
	if (sketch_file_read(&file, fd, access, system_memory(), NULL, &error) != SKETCH_OK)
		message_file(message_input_name(name), &error);
	if (!standard)
		close(fd);
	return file;
}
