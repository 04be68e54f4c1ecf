// How is a profiler trace read without holding it in memory? As a stream that unpacks gzip on the way.
//
//   JsonStream text("trace.json.gz");   // plain files pass through unchanged
//   std::istream in(&text);
//   nlohmann::json::sax_parse(in, &handler);
//   if (text.damaged()) ...             // what zlib says: cut short, wrong checksum, not readable
#pragma once
#include <streambuf>
#include <string>
#include <vector>

namespace moe {

/// A file as text. Outside of strings NaN and Infinity, which PyTorch writes and JSON lacks, become 0.
class JsonStream : public std::streambuf {
 public:
  explicit JsonStream(const std::string& file);
  ~JsonStream() override;
  JsonStream(const JsonStream&) = delete;
  JsonStream& operator=(const JsonStream&) = delete;

  bool is_open() const { return file_ != nullptr; }
  /// Why the packed data cannot be read to its end; "" when it was read well.
  const std::string& damage() const { return damage_; }
  /// Bytes of text delivered so far.
  long long position() const { return delivered_ - (egptr() - gptr()); }

 protected:
  int_type underflow() override;

 private:
  void replace_non_finite(std::size_t count);
  void* file_ = nullptr;  ///< gzFile
  std::vector<char> buffer_;
  std::string damage_;
  long long delivered_ = 0;
  bool in_string_ = false, escaped_ = false;
  int blanks_ = 0;  ///< letters of NaN or Infinity still to be blanked
};

}  // namespace moe
