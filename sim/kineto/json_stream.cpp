#include "kineto/json_stream.hpp"

#include <zlib.h>

namespace moe {

namespace {
constexpr unsigned kChunk =
    1U << 18;  // 256 KiB: large enough that calls do not count, small enough for any cache
}

JsonStream::JsonStream(const std::string& file) : file_(gzopen(file.c_str(), "rb")), buffer_(kChunk) {
  if (file_ != nullptr) gzbuffer(static_cast<gzFile>(file_), kChunk);
}

JsonStream::~JsonStream() {
  if (file_ != nullptr) gzclose(static_cast<gzFile>(file_));
}

JsonStream::int_type JsonStream::underflow() {
  if (file_ == nullptr || !damage_.empty()) return traits_type::eof();
  const int count = gzread(static_cast<gzFile>(file_), buffer_.data(), kChunk);
  int code = Z_OK;
  const char* text = gzerror(static_cast<gzFile>(file_), &code);
  // A file that was cut short gives its last bytes first and the error with them.
  if (code == Z_BUF_ERROR)
    damage_ = "the packed file is cut short";
  else if (code != Z_OK && code != Z_STREAM_END)
    damage_ =
        "the packed data is damaged (" + std::string(text).substr(std::string(text).rfind(": ") + 2) + ")";
  if (count <= 0) return traits_type::eof();
  replace_non_finite(static_cast<std::size_t>(count));
  delivered_ += count;
  setg(buffer_.data(), buffer_.data(), buffer_.data() + count);
  return traits_type::to_int_type(buffer_[0]);
}

void JsonStream::replace_non_finite(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    char& c = buffer_[i];
    if (in_string_) {
      if (escaped_)
        escaped_ = false;
      else if (c == '\\')
        escaped_ = true;
      else if (c == '"')
        in_string_ = false;
    } else if (blanks_ > 0) {
      c = ' ';
      --blanks_;
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == 'N' || c == 'I') {  // no other word of JSON has a capital letter outside of strings
      blanks_ = c == 'N' ? 2 : 7;
      c = '0';
    }
  }
}

}  // namespace moe
