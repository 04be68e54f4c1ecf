// Arrays that only accept their own index: start[LinkId{0}] does not compile when start is a Table<OpId, Time>.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace moe {

/// The plain number of an id (an `enum class` over an unsigned integer).
template <class Id>
constexpr std::size_t index(Id id) {
  return static_cast<std::size_t>(id);
}

template <class Id, class T>
class Table {
 public:
  Table() = default;
  explicit Table(std::size_t size, T value = T{}) : rows_(size, value) {}
  T& operator[](Id id) { return rows_[index(id)]; }
  const T& operator[](Id id) const { return rows_[index(id)]; }
  Id push_back(T value) {
    rows_.push_back(std::move(value));
    return static_cast<Id>(rows_.size() - 1);
  }
  std::size_t size() const { return rows_.size(); }
  bool empty() const { return rows_.empty(); }
  void reserve(std::size_t n) { rows_.reserve(n); }
  void assign(std::size_t n, T value) { rows_.assign(n, value); }
  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }
  auto begin() { return rows_.begin(); }
  auto end() { return rows_.end(); }
  const std::vector<T>& rows() const { return rows_; }
  friend bool operator==(const Table&, const Table&) = default;

 private:
  std::vector<T> rows_;
};

/// A list of T per id, stored in one array (compressed sparse rows).
template <class Id, class T>
class Rows {
 public:
  std::size_t size() const { return starts_.size() - 1; }
  std::span<const T> operator[](Id id) const {
    return {items_.data() + starts_[index(id)], items_.data() + starts_[index(id) + 1]};
  }
  std::span<T> operator[](Id id) {
    return {items_.data() + starts_[index(id)], items_.data() + starts_[index(id) + 1]};
  }
  /// Appends the list of the next id.
  void push_back(std::span<const T> row) {
    items_.insert(items_.end(), row.begin(), row.end());
    starts_.push_back(static_cast<std::uint32_t>(items_.size()));
  }
  std::size_t item_count() const { return items_.size(); }
  /// Position of the first item of a row, for side tables of the same shape.
  std::size_t offset(Id id) const { return starts_[index(id)]; }
  friend bool operator==(const Rows&, const Rows&) = default;

 private:
  std::vector<std::uint32_t> starts_{0};
  std::vector<T> items_;
};

}  // namespace moe
