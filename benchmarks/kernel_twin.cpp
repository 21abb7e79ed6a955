// Model M in C++ with a heap of plain structs: about the limit of what an engine could do with it.
//
// It draws nothing: every number comes from kernel_cpp.py, in the order in which Python's streams
// would give them. Usage: kernel_twin MODE UNTIL REPEATS NUMBERS LATENCIES; it prints CPU seconds of
// one run and events, and ends with status 3 if a stream has too few numbers.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <vector>

using i64 = std::int64_t;

constexpr i64 kMicrosecond = 1'000'000;
constexpr i64 kPropagation = 100 * kMicrosecond;
constexpr i64 kSyncLeast = 200 * kMicrosecond;
constexpr i64 kSyncPerEntry = kMicrosecond;
constexpr int kStores = 3, kSqlNodes = 2, kClients = 200, kSchedulerThreads = 8, kQuorum = 2;

enum Mode { kInMemory, kPipelined, kSync };
enum RequestKind { kLock, kWrite };
enum EventKind { kThought, kArrived, kExecuted, kAppended, kSynced, kAcknowledged, kApplied, kAnswered };

struct Numbers {
    std::vector<i64> values;
    std::size_t next = 0;
    i64 draw() {
        if (next == values.size()) std::exit(3);
        return values[next++];
    }
};

struct Input {
    std::vector<i64> words;
    std::size_t next = 0;
    Numbers numbers() {
        const auto count = static_cast<std::size_t>(words.at(next++));
        Numbers result;
        result.values.assign(words.begin() + next, words.begin() + next + count);
        next += count;
        return result;
    }
};

struct Event {
    i64 time;
    std::uint64_t order;
    EventKind kind;
    int subject;  // a client, a request or a store
    int store;
};

bool later(const Event& a, const Event& b) {
    return a.time != b.time ? a.time > b.time : a.order > b.order;
}

struct Wire {
    Numbers sizes;
    i64 free = 0;
    i64 send(i64 now) {
        free = std::max(free, now) + sizes.draw();
        return free + kPropagation;
    }
};

struct Request {
    RequestKind kind;
    int client, store, copies;
    bool awaited;
};

struct Store {
    Numbers scheduler_times, sync_times, apply_times;
    int idle = kSchedulerThreads;
    std::deque<int> queue;
    std::vector<int> waiting, in_flight;  // requests in the log
    i64 apply_free = 0;
    Wire to_store[kStores], to_sql[kSqlNodes];
};

struct Client {
    Numbers thinking, choices;
    std::vector<int> locks, touched;
    std::size_t next_lock = 0;
    int pending = 0;
    i64 began = 0, asked = 0, last_answer = 0;
    enum { kLocking, kPrewriting, kCommitting } phase = kLocking;
    std::vector<i64> lock_latencies, txn_latencies;
};

struct Model {
    Mode mode;
    i64 now = 0;
    std::uint64_t pushed = 0, executed = 0;
    std::vector<Event> heap;
    std::vector<Request> requests;
    Store stores[kStores];
    Wire from_sql[kSqlNodes][kStores];
    std::vector<Client> clients{kClients};

    void at(i64 time, EventKind kind, int subject, int store = 0) {
        heap.push_back({time, ++pushed, kind, subject, store});
        std::push_heap(heap.begin(), heap.end(), later);
    }

    void ask(RequestKind kind, int client, int region, bool awaited) {
        const int store = region % kStores, id = static_cast<int>(requests.size());
        requests.push_back({kind, client, store, 0, awaited});
        at(from_sql[client % kSqlNodes][store].send(now), kArrived, id);
    }

    void send(Client& client, int number, RequestKind kind, const int* begin, const int* end) {
        client.pending = static_cast<int>(end - begin);
        client.last_answer = 0;
        for (; begin != end; ++begin) ask(kind, number, *begin, true);
    }

    void start(int id) {
        Store& store = stores[requests[id].store];
        at(now + store.scheduler_times.draw(), kExecuted, id);
    }

    void answer(const Request& request) {
        const i64 arrival = stores[request.store].to_sql[request.client % kSqlNodes].send(now);
        if (!request.awaited) return;
        Client& client = clients[request.client];
        client.last_answer = std::max(client.last_answer, arrival);
        if (!--client.pending) at(client.last_answer, kAnswered, request.client);
    }

    void write(int number, int id) {
        Store& store = stores[number];
        store.waiting.push_back(id);
        if (store.in_flight.empty()) write_group(number);
    }

    void write_group(int number) {
        Store& store = stores[number];
        store.in_flight.swap(store.waiting);
        const auto entries = static_cast<i64>(store.in_flight.size());
        at(now + kSyncLeast + store.sync_times.draw() + entries * kSyncPerEntry, kSynced, number);
    }

    void executed_by_scheduler(int id) {
        const Request request = requests[id];
        Store& store = stores[request.store];
        if (store.queue.empty()) {
            ++store.idle;
        } else {
            start(store.queue.front());
            store.queue.pop_front();
        }
        if (request.kind == kLock && mode != kSync) {
            answer(request);
            if (mode == kInMemory) return;
        }
        write(request.store, id);
        for (int other = 0; other < kStores; ++other)
            if (other != request.store) at(store.to_store[other].send(now), kAppended, id, other);
    }

    void synced(int number) {
        Store& store = stores[number];
        std::vector<int> group;
        group.swap(store.in_flight);
        if (!store.waiting.empty()) write_group(number);
        for (const int id : group) {
            const Request& request = requests[id];
            if (request.store == number) {
                acknowledged(id);
            } else {
                const i64 arrival = store.to_store[request.store].send(now);
                if (request.copies < kQuorum) at(arrival, kAcknowledged, id);
            }
        }
    }

    void acknowledged(int id) {
        Request& request = requests[id];
        if (++request.copies != kQuorum) return;
        Store& store = stores[request.store];
        store.apply_free = std::max(store.apply_free, now) + store.apply_times.draw();
        if (request.kind != kLock || mode == kSync) at(store.apply_free, kApplied, id);
    }

    void begin(int number) {
        Client& client = clients[number];
        client.began = client.asked = now;
        client.locks.clear();
        client.touched.clear();
        for (i64 left = client.choices.draw(); left > 0; --left) {
            const int region = static_cast<int>(client.choices.draw());
            client.locks.push_back(region);
            auto& touched = client.touched;
            if (std::find(touched.begin(), touched.end(), region) == touched.end())
                touched.push_back(region);
        }
        client.next_lock = 1;
        client.phase = Client::kLocking;
        send(client, number, kLock, client.locks.data(), client.locks.data() + 1);
    }

    void answered(int number) {
        Client& client = clients[number];
        const int* touched = client.touched.data();
        const int* end = touched + client.touched.size();
        if (client.phase == Client::kLocking) {
            client.lock_latencies.push_back(now - client.asked);
            if (client.next_lock < client.locks.size()) {
                client.asked = now;
                const int* lock = client.locks.data() + client.next_lock++;
                send(client, number, kLock, lock, lock + 1);
            } else {
                client.phase = Client::kPrewriting;
                send(client, number, kWrite, touched, end);
            }
        } else if (client.phase == Client::kPrewriting) {
            client.phase = Client::kCommitting;
            send(client, number, kWrite, touched, touched + 1);
        } else {
            client.txn_latencies.push_back(now - client.began);
            for (++touched; touched != end; ++touched) ask(kWrite, number, *touched, false);
            at(now + client.thinking.draw(), kThought, number);
        }
    }

    void execute(const Event& event) {
        switch (event.kind) {
            case kThought: return begin(event.subject);
            case kArrived: {
                Store& store = stores[requests[event.subject].store];
                if (!store.idle) return store.queue.push_back(event.subject);
                --store.idle;
                return start(event.subject);
            }
            case kExecuted: return executed_by_scheduler(event.subject);
            case kAppended: return write(event.store, event.subject);
            case kSynced: return synced(event.subject);
            case kAcknowledged: return acknowledged(event.subject);
            case kApplied: return answer(requests[event.subject]);
            case kAnswered: return answered(event.subject);
        }
    }

    void run(i64 until) {
        for (int client = 0; client < kClients; ++client)
            at(clients[client].thinking.draw(), kThought, client);
        while (heap.front().time < until) {
            std::pop_heap(heap.begin(), heap.end(), later);
            const Event event = heap.back();
            heap.pop_back();
            now = event.time;
            ++executed;
            execute(event);
        }
    }
};

std::vector<i64> read_words(const char* path) {
    std::FILE* file = std::fopen(path, "rb");
    if (!file) std::exit(2);
    std::fseek(file, 0, SEEK_END);
    std::vector<i64> words(static_cast<std::size_t>(std::ftell(file)) / sizeof(i64));
    std::rewind(file);
    if (std::fread(words.data(), sizeof(i64), words.size(), file) != words.size()) std::exit(2);
    std::fclose(file);
    return words;
}

// The streams come in the order of kernel_cpp.py.
Model built(Mode mode, Input input) {
    Model model;
    model.mode = mode;
    for (Store& store : model.stores) {
        store.scheduler_times = input.numbers();
        store.sync_times = input.numbers();
        store.apply_times = input.numbers();
        for (Wire& wire : store.to_sql) wire.sizes = input.numbers();
        for (int other = 0; other < kStores; ++other)
            if (&store != &model.stores[other]) store.to_store[other].sizes = input.numbers();
    }
    for (auto& wires : model.from_sql)
        for (Wire& wire : wires) wire.sizes = input.numbers();
    for (Client& client : model.clients) {
        client.thinking = input.numbers();
        client.choices = input.numbers();
    }
    return model;
}

void save(const std::vector<i64>& values, std::FILE* file) {
    const auto count = static_cast<i64>(values.size());
    std::fwrite(&count, sizeof count, 1, file);
    std::fwrite(values.data(), sizeof(i64), values.size(), file);
}

int main(int, char** words) {
    const auto mode = static_cast<Mode>(std::atoi(words[1]));
    const i64 until = std::atoll(words[2]);
    const int repeats = std::atoi(words[3]);
    const Input input{read_words(words[4])};
    std::clock_t ticks = 0;
    for (int left = repeats; left > 0; --left) {
        Model model = built(mode, input);
        const std::clock_t began = std::clock();
        model.run(until);
        ticks += std::clock() - began;
        if (left > 1) continue;
        std::printf("%.9f %llu\n", static_cast<double>(ticks) / CLOCKS_PER_SEC / repeats,
                    static_cast<unsigned long long>(model.executed));
        std::FILE* file = std::fopen(words[5], "wb");
        if (!file) return 2;
        for (const Client& client : model.clients) save(client.lock_latencies, file);
        for (const Client& client : model.clients) save(client.txn_latencies, file);
        if (std::fclose(file)) return 2;
    }
}
