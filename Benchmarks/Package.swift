// swift-tools-version: 6.2
import PackageDescription

// Measurements: of the hot path (Benchmarks), and of the built program from outside (RelayBenchmark). A package of its own,
// so that the program's own package does not carry them.
let package = Package(
    name: "tickertape-benchmarks",
    dependencies: [
        .package(name: "tickertape", path: ".."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        .target(name: "CMallocCount"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CMallocCount",
                .product(name: "Market", package: "tickertape"),
                .product(name: "Wire", package: "tickertape"),
                .product(name: "NIOCore", package: "swift-nio"),
            ]
        ),
        .target(name: "CLoad"),
        .executableTarget(name: "RelayBenchmark", dependencies: ["CLoad"]),
    ]
)
