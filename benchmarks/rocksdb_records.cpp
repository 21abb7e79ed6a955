// Puts and deletes records in a RocksDB as TiKV does: rocksdb_records.py says why.
//
// rocksdb_records FOLDER kvdb|raftdb
//   prints, for each size of a write and each quarter of a memtable, nanoseconds of one thread's
//   CPU a record;
// rocksdb_records FOLDER THREADS RECORDS_OF_A_WRITE KIND
//   prints nanoseconds of the clock that some threads took, and the number of records.
// Built against tikv/rocksdb with MULTI_BATCH (branch tikv-5.4) or PIPELINED_COMMIT (21712fe42, of
// TiKV v6.0), memtables and writes are TiKV's: a write of v5.4 is in pieces of 16 records, which
// threads that wait insert, too.

#include <rocksdb/db.h>
#include <rocksdb/memtablerep.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/statistics.h>
#include <rocksdb/write_batch.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int kFilled = 100'000;  // Records that are there before: the upper levels of a skip list.
constexpr int kRecords = 400'000;
constexpr int kTurn = 972;  // Records of a size until the next size has its turn.
constexpr int kParts = 4;
constexpr uint64_t kMemtable = 128 << 20, kLockMemtable = 32 << 20;
constexpr int kKey = 37;  // Bytes of a key without its timestamp.
constexpr int kRegions = 5000;
constexpr int kGc = 512;  // Entries that raftdb's gc deletes with one write.

using Handles = std::vector<rocksdb::ColumnFamilyHandle*>;
using Write = std::vector<rocksdb::WriteBatch>;
using Random = std::mt19937_64;

// A column family with TiKV's options as far as a put meets them.
rocksdb::ColumnFamilyOptions Family(uint64_t memtable, bool bloom) {
  rocksdb::ColumnFamilyOptions family;
  family.write_buffer_size = memtable;
  family.max_write_buffer_number = 5;
#if defined(MULTI_BATCH) || defined(PIPELINED_COMMIT)
  family.memtable_factory.reset(new rocksdb::DoublySkipListFactory());
#endif
  if (bloom) {
    family.prefix_extractor.reset(rocksdb::NewCappedPrefixTransform(kKey));
    family.memtable_prefix_bloom_size_ratio = 0.1;
  }
  return family;
}

rocksdb::DBOptions Options() {
  rocksdb::DBOptions options;
  options.create_if_missing = options.create_missing_column_families = true;
  options.statistics = rocksdb::CreateDBStatistics();
  return options;
}

rocksdb::DB* Open(const rocksdb::DBOptions& options, const char* folder, Handles* families) {
  rocksdb::DB* database = nullptr;
  const auto opened = rocksdb::DB::Open(
      options, folder,
      {{"default", Family(kMemtable, false)},
       {"lock", Family(kLockMemtable, true)},
       {"write", Family(kMemtable, true)}},
      families, &database);
  if (opened.ok()) return database;
  std::fprintf(stderr, "%s\n", opened.ToString().c_str());
  std::exit(1);
}

std::string Key(Random* random) {
  std::string key = "zt\x80";
  while (key.size() < kKey) key.push_back(static_cast<char>((*random)()));
  return key;
}

// A commit record, a lock and the deletion of a lock in turn.
void Fill(rocksdb::WriteBatch* batch, const Handles& families, const std::vector<std::string>& keys) {
  static const std::string lock(150, 'x'), commit(40, 'y'), timestamp(8, '\0');
  for (size_t number = 0; number < keys.size(); number++) {
    if (number % 3 == 0) batch->Put(families[2], keys[number] + timestamp, commit);
    if (number % 3 == 1) batch->Put(families[1], keys[number], lock);
    if (number % 3 == 2) batch->Delete(families[1], keys[number]);
  }
}

std::vector<std::string> Keys(int size, Random* random) {
  std::vector<std::string> keys;
  while (size-- > 0) keys.push_back(Key(random));
  return keys;
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

Write Made(const Handles& families, const std::vector<std::string>& keys) {
  Write write;
  for (auto begin = keys.begin(); begin != keys.end();) {
    const auto end = begin + std::min<long>(kPiece, keys.end() - begin);
    write.emplace_back();
    Fill(&write.back(), families, {begin, end});
    begin = end;
  }
  return write;
}

// What one thread's CPU has been spent on, by what and quarter of the memtable.
class Spent {
 public:
  void Begin() { begun_ = Now(); }
  void End(const std::string& what, int part, int records) {
    auto& [nanoseconds, count] = spent_[{what, part}];
    nanoseconds += Now() - begun_;
    count += records;
  }
  void Print() const {
    for (const auto& [of, spent] : spent_)
      std::printf("%s %d %.1f\n", of.first.c_str(), of.second, spent.first / spent.second);
  }

 private:
  static double Now() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
  }
  double begun_ = 0;
  std::map<std::pair<std::string, int>, std::pair<double, long>> spent_;
};

// The quarter that a memtable is filled to; kParts once it has been switched or is nearly full.
class Quarter {
 public:
  Quarter(rocksdb::DB* database, rocksdb::ColumnFamilyHandle* family)
      : database_(database), family_(family) {}
  int Now() {
    uint64_t bytes = 0;
    database_->GetIntProperty(family_, "rocksdb.cur-size-active-mem-table", &bytes);
    const bool over = bytes < last_ || bytes > kMemtable * 97 / 100;
    last_ = bytes;
    return over ? kParts : static_cast<int>(kParts * bytes / kMemtable);
  }

 private:
  rocksdb::DB* database_;
  rocksdb::ColumnFamilyHandle* family_;
  uint64_t last_ = 0;
};

void FillKvdb(rocksdb::DB* database, const Handles& families, Spent* spent) {
  Random random(1);
  Quarter quarter(database, families[2]);
  for (int part = quarter.Now(); part < kParts; part = quarter.Now()) {
    for (int size : {1, 9, 27, 81, 243}) {
      for (int left = kTurn; left > 0; left -= size) {
        const auto keys = Keys(size, &random);
        spent->Begin();
        Write write = Made(families, keys);
        Commit(database, &write);
        spent->End(std::to_string(size), part, size);
      }
    }
  }
}

std::string RaftKey(uint64_t region, char kind, uint64_t index) {
  std::string key = "\x01\x02";
  for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(region >> shift));
  key.push_back(kind);
  for (int shift = 56; kind == '\x01' && shift >= 0; shift -= 8)
    key.push_back(static_cast<char>(index >> shift));
  return key;
}

// Regions append an entry each and put their state, so many with one write; gc deletes entries.
void FillRaftdb(rocksdb::DB* database, Spent* spent) {
  static const std::string entry(300, 'x'), state(40, 'y');
  Random random(1);
  std::vector<uint64_t> last(kRegions, 0), deleted(kRegions, 0);
  Quarter quarter(database, database->DefaultColumnFamily());
  for (int part = quarter.Now(); part < kParts; part = quarter.Now()) {
    for (int regions : {1, 5, 15, 40}) {
      for (int left = kTurn; left > 0; left -= regions) {
        std::vector<uint64_t> chosen;
        for (int number = 0; number < regions; number++) chosen.push_back(random() % kRegions);
        spent->Begin();
        rocksdb::WriteBatch batch;
        for (uint64_t region : chosen) {
          batch.Put(RaftKey(region, '\x01', ++last[region]), entry);
          batch.Put(RaftKey(region, '\x02', 0), state);
        }
        database->Write({}, &batch);
        spent->End("put " + std::to_string(2 * regions), part, 2 * regions);
      }
    }
    spent->Begin();
    rocksdb::WriteBatch batch;
    int records = 0;
    for (uint64_t region = random() % kRegions; records < kGc; region = (region + 1) % kRegions)
      while (deleted[region] < last[region]) {
        batch.Delete(RaftKey(region, '\x01', ++deleted[region]));
        records++;
      }
    database->Write({}, &batch);
    spent->End("delete " + std::to_string(kGc), part, records);
  }
}

void Together(rocksdb::DB* database, const Handles& families, int threads, int size) {
  Random random(1);
  for (int filled = 0; filled < kFilled; filled += size) {
    Write write = Made(families, Keys(size, &random));
    Commit(database, &write);
  }
  const int writes = kRecords / size / threads;
  std::vector<std::vector<Write>> batches(threads);
  for (auto& own : batches) {
    for (int number = 0; number < writes; number++)
      own.push_back(Made(families, Keys(size, &random)));
  }
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> writers;
  for (auto& own : batches) {
    writers.emplace_back([&] {
      rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableTime);
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
}

}  // namespace

int main(int count, char** words) {
  const std::string kind = words[count - 1];
  rocksdb::DBOptions options = Options();
  options.enable_pipelined_write = kind == "pipelined" || kind == "raftdb";
  options.unordered_write = kind == "unordered";
#ifdef MULTI_BATCH
  options.enable_pipelined_write = true;
  options.enable_multi_thread_write = kind != "raftdb";
#endif
#ifdef PIPELINED_COMMIT
  options.enable_pipelined_commit = kind != "raftdb";
#endif
  Handles families;
  rocksdb::DB* database = Open(options, words[1], &families);
  if (count == 3) {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableTime);
    Spent spent;
    if (kind == "kvdb") FillKvdb(database, families, &spent);
    if (kind == "raftdb") FillRaftdb(database, &spent);
    spent.Print();
  } else {
    Together(database, families, std::atoi(words[2]), std::atoi(words[3]));
  }
  for (auto* each : families) database->DestroyColumnFamilyHandle(each);
  delete database;
}
