/// The benchmark of many idle clients: the time to accept them, the memory of each, and whether they stay connected.
struct ConnectionBenchmark {
    let bench: Workbench

    func rows() throws -> [Row] {
        let contenders = try self.bench.contenders()
        return try self.bench.options.crowds.flatMap { wanted in
            let clients = min(wanted, self.bench.maximumClients)
            if clients < wanted {
                Workbench.say(
                    "connections: \(clients) clients instead of \(wanted), for ulimit -Hn allows no more files"
                )
            }
            return try contenders.map { try self.row($0, clients: clients) }
        }
    }

    private func row(_ contender: Contender, clients: Int) throws -> Row {
        Workbench.say("connections: \(clients) clients, \(contender.rawValue)")
        let finnhub = try FakeFinnhub()
        let port = try Loopback.freePort()
        let process = try self.bench.start(contender, upstream: finnhub, port: port, clients: clients)
        defer { process.stop() }
        try finnhub.accept(process)
        let crowd = try Crowd(finnhub: finnhub)
        // The first connection waits for the program's start, which is not measured.
        try crowd.join(1, port: port, process: process)
        try crowd.warmUp()
        let (memory, cpu, start) = (process.memory("VmRSS"), process.cpu, Clock.now())
        try crowd.join(clients - 1, port: port, process: process)
        let seconds = Double(Clock.now() - start) / Double(Clock.second)
        let cpuPerClient = Double(process.cpu - cpu) / Double(clients - 1)
        try crowd.idle(seconds: 2)
        let held = Double(process.memory("VmRSS") - memory) / Double(clients - 1)
        try crowd.warmUp()
        let (busyCPU, busy) = (process.cpu, Clock.now())
        try crowd.idle(seconds: self.bench.options.seconds)
        let idleCPU = Double(process.cpu - busyCPU) / Double(Clock.now() - busy) * 1_000
        if contender == .tickertape, crowd.openCount < clients {
            self.bench.breaches.append("connections: \(clients - crowd.openCount) of \(clients) clients were closed")
        }
        return Row([
            "relay": .text(contender.rawValue),
            "clients": .count(clients),
            "stayed": .count(crowd.openCount),
            "connect_s": .number(seconds, digits: 2),
            "cpu_us_per_connect": .number(cpuPerClient / 1_000, digits: 0),
            "kib_per_idle_client": .number(held, digits: 1),
            "kib_per_client_after_message": .number(
                Double(process.memory("VmRSS") - memory) / Double(clients - 1),
                digits: 1
            ),
            "idle_cpu_ms_per_s": .number(idleCPU, digits: 1),
        ])
    }
}
