// swift-tools-version: 6.2
import PackageDescription

// Swift 6 language mode comes with the tools version. Warnings become errors only where the project's own scripts ask
// for it, so that a newer compiler's new warning never stops somebody who just wants to build.
let strict = Context.environment["TICKERTAPE_WARNINGS_AS_ERRORS"] == "1"

let outer: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ] + (strict ? [.treatAllWarnings(as: .error)] : [])
// Not for the outer modules: where libc and NIOPosix meet in one module, Swift 6.3 with this feature takes libc's structs
// (`stat`, `timespec`) for members of swift-nio's CNIOLinux, which nobody can import.
let house = outer + [SwiftSetting.enableUpcomingFeature("MemberImportVisibility")]

extension Target.Dependency {
    static let argumentParser = product(name: "ArgumentParser", package: "swift-argument-parser")
    static let configuration = product(name: "Configuration", package: "swift-configuration")
    static let grdb = product(name: "GRDB", package: "GRDB.swift")
    static let histogram = product(name: "Histogram", package: "hdrhistogram-swift")
    static let logging = product(name: "Logging", package: "swift-log")
    static let coreMetrics = product(name: "CoreMetrics", package: "swift-metrics")
    static let nioCore = product(name: "NIOCore", package: "swift-nio")
    static let nioEmbedded = product(name: "NIOEmbedded", package: "swift-nio")
    static let nioHTTP1 = product(name: "NIOHTTP1", package: "swift-nio")
    static let nioPosix = product(name: "NIOPosix", package: "swift-nio")
    static let nioConcurrency = product(name: "NIOConcurrencyHelpers", package: "swift-nio")
    static let nioTLS = product(name: "NIOTLS", package: "swift-nio")
    static let nioWebSocket = product(name: "NIOWebSocket", package: "swift-nio")
    static let unixSignals = product(name: "UnixSignals", package: "swift-service-lifecycle")
    static let serviceLifecycle = product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
}

// The modules, from the inside out. A module may import only what its list names, and the build checks that
// (`--explicit-target-dependency-import-check error`); docs/architecture.md says why.
let package = Package(
    name: "tickertape",
    products: [
        .executable(name: "tickertape", targets: ["Tickertape"]),
        // For Benchmarks/, which is a package of its own.
        .library(name: "Market", targets: ["Market"]),
        .library(name: "Wire", targets: ["Wire"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: ["YAML"]),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(
            name: "COpenSSL",
            pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .yum(["openssl-devel"])]
        ),
        .systemLibrary(
            name: "CZlib",
            pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .yum(["zlib-devel"])]
        ),
        .systemLibrary(
            name: "CZstd",
            pkgConfig: "libzstd",
            providers: [.apt(["libzstd-dev"]), .yum(["libzstd-devel"])]
        ),
        // CRC-32C by the processor's own instruction, which Swift has no name for.
        .target(name: "CChecksum"),
        // The escapes of JSON strings by vector instructions, likewise.
        .target(name: "CJSONText"),
        // Calls of Linux that Swift has no name for, either.
        .target(name: "CLinux"),
        .target(name: "TLS", dependencies: ["COpenSSL", .nioConcurrency, .nioCore, .nioTLS], swiftSettings: house),
        .target(
            name: "WebSocket",
            dependencies: ["CZlib", .nioCore, .nioHTTP1, .nioWebSocket],
            swiftSettings: house
        ),
        // HTTP/1.1 on NIO's codec: a server's connection, and one request to another server.
        .target(
            name: "HTTP",
            dependencies: ["CLinux", "TLS", "WebSocket", .nioConcurrency, .nioCore, .nioHTTP1, .nioPosix, .logging],
            swiftSettings: outer
        ),
        .target(name: "Market", swiftSettings: house),
        .target(
            name: "Wire",
            dependencies: ["CChecksum", "CJSONText", "Market", .nioConcurrency, .nioCore],
            swiftSettings: house
        ),
        // What the operating system gives: clocks, threads, wake-ups, whole writes, durable and private files.
        .target(
            name: "Platform",
            dependencies: ["CLinux", "Market", .nioConcurrency, .nioCore],
            swiftSettings: outer
        ),
        // The completeness of each symbol and hour of a tape, by the ids of its trades, with a hash.
        .target(name: "Completeness", dependencies: ["Market", "TLS"], swiftSettings: house),
        .target(
            name: "Recordings",
            dependencies: ["Completeness", "CZstd", "Market", "Platform", "Wire", .nioConcurrency, .nioCore],
            swiftSettings: outer
        ),
        // The web page at `/`, a separate module because turning its files into code takes the compiler some seconds.
        .target(
            name: "Page",
            resources: [
                "index.html", "style.css", "icon.svg", "theme.js", "main.js", "relay.js", "market.js", "rows.js",
                "selection.js", "holdings.js", "portfolio.js", "trend.js", "finding.js", "search.js", "keys.js",
                "history.js", "bars.js", "pyramid.js", "gaps.js", "past.js", "pauses.js",
                "pane.js", "tools.js", "touch.js", "viewport.js", "prices.js", "chart.js", "plot.js", "axes.js",
                "chart-words.js", "decimal.js", "words.js", "zone.js", "texts.js", "room.js", "screen.js",
                "symbol.js", "tape.js", "preferences.js", "token.js", "earlier.js", "changes.js", "announcer.js",
            ].map { .embedInCode("Files/\($0)") },
            swiftSettings: house
        ),
        // The commented manual of the settings, a link to config/tickertape.yaml.
        .target(name: "SettingsManual", resources: [.embedInCode("tickertape.yaml")], swiftSettings: house),
        // The store of what is to survive a restart; the only module that knows SQLite.
        .target(
            name: "History",
            dependencies: ["Market", "Platform", "Wire", "Recordings", .grdb, .nioConcurrency, .nioCore],
            swiftSettings: outer
        ),
        // What stands between feeds and readers: numbers, gaps, repeats, what is true of each feed.
        .target(
            name: "Ingest",
            dependencies: ["Market", "Wire", .nioConcurrency, .nioCore, .logging],
            swiftSettings: house
        ),
        .target(
            name: "Feeds",
            dependencies: [
                "Cluster", "HTTP", "Ingest", "Market", "NATS", "Platform", "Wire", "WebSocket", "TLS",
                .nioConcurrency, .nioCore, .nioHTTP1, .nioPosix, .serviceLifecycle, .logging,
            ],
            swiftSettings: outer
        ),
        // What is measured; the sinks may read it.
        .target(
            name: "Measurements",
            dependencies: [
                "Completeness", "Market", "Platform", "Wire", "TLS", .nioConcurrency, .nioCore, .logging, .histogram,
                .coreMetrics,
            ],
            swiftSettings: outer
        ),
        .target(
            name: "Relay",
            dependencies: [
                "CLinux", "HTTP", "Ingest", "Market", "Measurements", "Platform", "Wire", "WebSocket", "TLS", "Page",
                .nioConcurrency, .nioCore, .nioHTTP1, .nioPosix, .nioTLS,
                .serviceLifecycle, .logging, .coreMetrics,
            ],
            swiftSettings: outer
        ),
        .target(
            name: "Terminal",
            dependencies: [
                "Ingest", "Market", "Measurements", "Platform", "Wire", .nioConcurrency, .nioCore,
            ],
            swiftSettings: outer
        ),
        .target(
            name: "Alerts",
            dependencies: [
                "HTTP", "Market", "Measurements", "Platform", "Wire", "TLS",
                .nioConcurrency, .nioCore, .nioHTTP1, .nioPosix, .coreMetrics,
            ],
            swiftSettings: outer
        ),
        // Mock servers of the service with their faults, the player of recordings, the simulated market.
        .target(
            name: "MockUpstream",
            dependencies: [
                "HTTP", "Market", "Platform", "Wire", "Recordings", "WebSocket", "TLS",
                .nioConcurrency, .nioCore, .nioHTTP1, .nioPosix, .logging,
            ],
            swiftSettings: outer
        ),
        // Virtual time, and all outputs on it: the hashes of a replay. Nothing else links NIOEmbedded.
        .target(
            name: "Simulation",
            dependencies: [
                "Alerts", "Feeds", "Ingest", "Market", "Measurements", "MockUpstream", "Recordings", "Relay",
                "Terminal", "TLS",
                "WebSocket", "Wire", .nioConcurrency, .nioCore, .nioEmbedded, .nioHTTP1, .logging,
            ],
            swiftSettings: outer
        ),
        // The client of NATS: its protocol as values, a machine, and a driver on an event loop.
        .target(
            name: "NATS",
            dependencies: ["HTTP", "Market", "TLS", "WebSocket", "Wire", .nioCore, .nioTLS],
            swiftSettings: house
        ),
        // The members of a cluster: the lease of a hot standby, and the ingest's tape. It knows neither NATS nor a store.
        .target(name: "Cluster", dependencies: ["Market", "Wire", .nioCore, .logging], swiftSettings: house),
        .executableTarget(
            name: "Tickertape",
            dependencies: [
                "Alerts", "Cluster", "Feeds", "HTTP", "History", "Ingest", "Market", "Measurements", "MockUpstream",
                "NATS", "Platform",
                "Recordings", "Relay", "SettingsManual",
                "Simulation", "TLS", "Terminal", "WebSocket", "Wire",
                .nioConcurrency, .nioCore, .nioHTTP1, .nioPosix, .serviceLifecycle, .unixSignals, .logging,
                .argumentParser, .configuration,
            ],
            // Found by path (BundledRecording): the accessor that SwiftPM makes for resources would bring Foundation in.
            exclude: ["Resources"],
            swiftSettings: outer
        ),

        .target(
            name: "TickertapeTesting",
            dependencies: [
                "COpenSSL", "HTTP", "Ingest", "Market", "MockUpstream", "Wire", "Recordings", "WebSocket", "TLS",
                "Feeds", .nioConcurrency, .nioCore, .nioEmbedded,
                .nioHTTP1, .nioPosix, .logging,
            ],
            path: "Tests/Support",
            swiftSettings: house
        ),
        // What the Autobahn suite talks to: an echo server and a client on this package's WebSocket.
        .executableTarget(
            name: "AutobahnEcho",
            dependencies: [
                "HTTP", "MockUpstream", "WebSocket", "TLS", "Relay", .nioCore, .nioHTTP1, .nioPosix, .nioTLS,
            ],
            path: "Tests/AutobahnEcho",
            swiftSettings: house
        ),
        // What strangers send, and the rules that hold whatever it is; `scripts/fuzz` runs it by the million.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "WebSocket", "HTTP", "Ingest", "Market", "Measurements", "MockUpstream", "NATS", "Relay", "Wire",
                "Recordings", "Feeds", .nioConcurrency, .nioCore, .nioEmbedded, .nioHTTP1, .logging,
            ],
            path: "Tests/Fuzz/Targets",
            swiftSettings: house
        ),
        .executableTarget(
            name: "Fuzz",
            dependencies: ["FuzzTargets"],
            path: "Tests/Fuzz/Seeded",
            swiftSettings: house
        ),
        // A venue, its faults and the program between them: `Schedules` runs them by the thousand in virtual time, and a
        // few in real time over sockets.
        .target(
            name: "VenueSchedules",
            dependencies: [
                "Feeds", "HTTP", "Ingest", "Market", "Measurements", "MockUpstream", "Platform", "Recordings",
                "Simulation", "TLS", "TickertapeTesting", "WebSocket", "Wire", .nioConcurrency, .nioCore, .nioEmbedded,
                .nioHTTP1, .nioPosix, .logging,
            ],
            path: "Tests/Schedules/Harness",
            swiftSettings: house
        ),
        .executableTarget(
            name: "Schedules",
            dependencies: ["VenueSchedules", .nioConcurrency],
            path: "Tests/Schedules/Runs",
            swiftSettings: house
        ),
        // Programs that share a lease, their store, their network and their faults, in virtual time.
        .target(
            name: "LeaseSchedules",
            dependencies: ["Cluster", "Feeds", "Market", "Wire", .nioCore],
            path: "Tests/LeaseSchedules/Harness",
            swiftSettings: house
        ),
        .executableTarget(
            name: "LeaseSimulation",
            dependencies: ["LeaseSchedules"],
            path: "Tests/LeaseSchedules/Runs",
            swiftSettings: house
        ),
        .testTarget(
            name: "FuzzTests",
            dependencies: ["FuzzTargets", "TickertapeTesting"],
            swiftSettings: house
        ),
        .testTarget(
            name: "TLSTests",
            dependencies: [
                "COpenSSL", "TLS", "TickertapeTesting", .nioConcurrency, .nioCore, .nioEmbedded, .nioPosix, .nioTLS,
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "HTTPTests",
            dependencies: ["HTTP", "TickertapeTesting", .nioCore, .nioEmbedded, .nioHTTP1],
            swiftSettings: house
        ),
        .testTarget(
            name: "WebSocketTests",
            dependencies: [
                "HTTP", "MockUpstream", "WebSocket", "TickertapeTesting", .nioConcurrency, .nioCore, .nioEmbedded,
                .nioPosix, .nioHTTP1,
                .nioWebSocket,
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "NATSTests",
            dependencies: [
                "Market", "NATS", "TLS", "TickertapeTesting", "Wire", .nioConcurrency, .nioCore, .nioEmbedded,
                .nioPosix,
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "ClusterTests",
            dependencies: [
                "Cluster", "Feeds", "Ingest", "LeaseSchedules", "Market", "NATS", "TLS", "TickertapeTesting", "Wire",
                .nioCore, .nioEmbedded,
                .nioPosix, .logging,
            ],
            swiftSettings: house
        ),
        .testTarget(name: "MarketTests", dependencies: ["Market", "TickertapeTesting"], swiftSettings: house),
        .testTarget(
            name: "WireTests",
            dependencies: ["CChecksum", "Wire", "Market", "TickertapeTesting", .nioCore],
            swiftSettings: house
        ),
        .testTarget(
            name: "CompletenessTests",
            dependencies: ["Completeness", "Market", "TLS", "TickertapeTesting"],
            swiftSettings: house
        ),
        .testTarget(
            name: "RecordingsTests",
            dependencies: [
                "Market", "Platform", "Recordings", "TickertapeTesting", "Wire", .nioConcurrency, .nioCore,
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "IngestTests",
            dependencies: [
                "Ingest", "Market", "Platform", "TickertapeTesting", "Wire",
                .nioConcurrency, .nioCore, .nioEmbedded, .logging,
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "FeedsTests",
            dependencies: [
                "Feeds", "Ingest", "Market", "MockUpstream", "Platform", "Simulation", "Wire",
                "WebSocket", "TLS",
                "TickertapeTesting",
                .nioConcurrency, .nioCore, .nioEmbedded, .nioPosix, .nioHTTP1, .logging,
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "MeasurementsTests",
            dependencies: [
                "Market", "Measurements", "TickertapeTesting", "Wire", .nioCore, .nioConcurrency, .logging,
                .coreMetrics,
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "RelayTests",
            dependencies: [
                "COpenSSL", "HTTP", "Ingest", "Market", "Measurements", "Page", "Relay", "TLS", "TickertapeTesting",
                "WebSocket", "Wire",
                .nioConcurrency, .nioCore, .nioEmbedded, .nioPosix, .nioHTTP1, .serviceLifecycle, .logging,
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "TerminalTests",
            dependencies: [
                "Ingest", "Market", "Measurements", "Platform", "Terminal", "TickertapeTesting", "Wire",
                .nioConcurrency, .nioCore, .nioEmbedded,
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "AlertsTests",
            dependencies: [
                "Alerts", "Market", "Measurements", "TLS", "TickertapeTesting", "Wire",
                .nioConcurrency, .nioCore, .nioPosix,
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "MockUpstreamTests",
            dependencies: [
                "Feeds", "HTTP", "Ingest", "Market", "MockUpstream", "Recordings", "Simulation", "TLS",
                "TickertapeTesting", "WebSocket",
                "Wire",
                .nioConcurrency, .nioCore, .nioEmbedded, .nioHTTP1, .nioPosix, .logging,
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "Feeds", "Ingest", "Market", "Simulation", "TLS", "TickertapeTesting", "VenueSchedules", "WebSocket",
                "Wire",
                .nioCore, .nioEmbedded, .logging,
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "HistoryTests",
            dependencies: [
                "History", "Market", "Wire", "Recordings", "TickertapeTesting", .grdb, .nioConcurrency, .nioCore,
            ],
            swiftSettings: outer
        ),
        .testTarget(
            name: "TickertapeTests",
            dependencies: [
                "Feeds", "HTTP", "History", "Ingest", "Market", "Measurements", "MockUpstream", "Platform",
                "Recordings", "Relay",
                "Simulation", "TLS", "Terminal", "Tickertape", "TickertapeTesting", "WebSocket", "Wire",
                .nioConcurrency, .nioCore, .nioHTTP1, .nioPosix, .configuration, .argumentParser, .logging,
            ],
            swiftSettings: house
        ),
    ]
)

// libFuzzer brings a `main` of its own, so this links only with its flags (`scripts/fuzz`).
if Context.environment["TICKERTAPE_LIBFUZZER"] == "1" {
    package.targets.append(
        .executableTarget(
            name: "LibFuzzer",
            dependencies: ["FuzzTargets"],
            path: "Tests/Fuzz/LibFuzzer",
            swiftSettings: outer
        )
    )
}
