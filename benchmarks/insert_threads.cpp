// Several threads insert random keys into the memtables of one RocksDB: insert_threads.py says why.
//
// insert_threads FOLDER THREADS RECORDS_OF_A_WRITE KIND
// prints nanoseconds of the clock that all of it took, and the number of records. Built with
// MULTI_BATCH against tikv/rocksdb's branch tikv-5.4, it writes as TiKV v5.4 does, in pieces of 16
// records, which threads that wait insert, too; KIND is then multi_batch.

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kFilled = 100'000;  // Records that are there before: the upper levels of a skip list.
constexpr int kRecords = 400'000;

using Handles = std::vector<rocksdb::ColumnFamilyHandle*>;
using Write = std::vector<rocksdb::WriteBatch>;

// A commit record, a lock and the deletion of a lock in turn, as apply_cost.py has them.
void Fill(rocksdb::WriteBatch* batch, const Handles& families, int size, std::mt19937_64* random) {
  static const std::string lock(150, 'x'), commit(40, 'y');
  for (int number = 0; number < size; number++) {
    std::string key = "zt\x80";
    for (int place = 0; place < 34; place++) key.push_back(static_cast<char>((*random)()));
    if (number % 3 == 0) batch->Put(families[2], key + std::string(8, '\0'), commit);
    if (number % 3 == 1) batch->Put(families[1], key, lock);
    if (number % 3 == 2) batch->Delete(families[1], key);
  }
}

#ifdef MULTI_BATCH
constexpr int kPiece = 16;

void Commit(rocksdb::DB* database, Write* write) {
  std::vector<rocksdb::WriteBatch*> pieces;
  for (auto& piece : *write) pieces.push_back(&piece);
  database->MultiBatchWrite({}, std::move(pieces));
}
#else
constexpr int kPiece = 1 << 20;

void Commit(rocksdb::DB* database, Write* write) { database->Write({}, &write->front()); }
#endif

Write Made(const Handles& families, int size, std::mt19937_64* random) {
  Write write;
  for (int left = size; left > 0; left -= kPiece) {
    write.emplace_back();
    Fill(&write.back(), families, std::min(left, kPiece), random);
  }
  return write;
}

}  // namespace

int main(int, char** words) {
  const int threads = std::atoi(words[2]), size = std::atoi(words[3]);
  rocksdb::DBOptions options;
  options.create_if_missing = options.create_missing_column_families = true;
  options.enable_pipelined_write = std::string(words[4]) == "pipelined";
  options.unordered_write = std::string(words[4]) == "unordered";
#ifdef MULTI_BATCH
  options.enable_pipelined_write = options.enable_multi_thread_write = true;
#endif
  rocksdb::ColumnFamilyOptions family;  // As TiKV's, as far as a put meets them.
  family.write_buffer_size = 128 << 20;
  family.max_write_buffer_number = 5;
  Handles families;
  rocksdb::DB* database = nullptr;
  const auto opened = rocksdb::DB::Open(
      options, words[1], {{"default", family}, {"lock", family}, {"write", family}}, &families,
      &database);
  if (!opened.ok()) {
    std::fprintf(stderr, "%s\n", opened.ToString().c_str());
    return 1;
  }
  std::mt19937_64 random(1);
  for (int filled = 0; filled < kFilled; filled += size) {
    Write write = Made(families, size, &random);
    Commit(database, &write);
  }
  const int writes = kRecords / size / threads;
  std::vector<std::vector<Write>> batches(threads);
  for (auto& own : batches) {
    for (int number = 0; number < writes; number++)
      own.push_back(Made(families, size, &random));
  }
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> writers;
  for (auto& own : batches) {
    writers.emplace_back([&] {
      ready++;
      while (!go) std::this_thread::yield();
      for (auto& write : own) Commit(database, &write);
    });
  }
  while (ready < threads) std::this_thread::yield();
  const auto begun = std::chrono::steady_clock::now();
  go = true;
  for (auto& writer : writers) writer.join();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begun;
  std::printf("%.0f %d\n", 1e9 * wall.count(), writes * threads * size);
  for (auto* each : families) database->DestroyColumnFamilyHandle(each);
  delete database;
}
