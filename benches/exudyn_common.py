"""What the Exudyn benchmarks share: solver settings, the clock, the line of a measurement.

One thread, the module without range checks. The clock runs during the solver call alone: building and
assembling the model are outside.
"""
import os
import sys
import time

for pool in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(pool, "1")
sys.exudynFast = True

import exudyn as exu  # noqa: E402  (the lines above must come first)


def settings(step, end_time, spectral_radius=0.9, rtol=1e-8, atol=1e-10, modified_newton=False, sparse=False):
    """Chung-Hulbert's generalized-alpha method on the index-3 equations with fixed steps."""
    chosen = exu.SimulationSettings()
    time_integration = chosen.timeIntegration
    time_integration.endTime = end_time
    time_integration.numberOfSteps = round(end_time / step)
    time_integration.verboseMode = 0
    time_integration.adaptiveStep = False
    time_integration.automaticStepSize = False
    method = time_integration.generalizedAlpha
    method.spectralRadius = spectral_radius
    method.computeInitialAccelerations = True
    # Without this Newton fails on the heavy top at this spectral radius; with it the results are those of the
    # Lie-group method on SO(3)xR3. Large models fail with it, and the sparse solver refuses the tangent operator.
    method.lieGroupSimplifiedKinematicRelations = not sparse
    method.lieGroupAddTangentOperator = not sparse
    time_integration.newton.useModifiedNewton = modified_newton
    time_integration.newton.relativeTolerance = rtol
    time_integration.newton.absoluteTolerance = atol
    kinds = exu.LinearSolverType
    chosen.linearSolver.solverType = kinds.EigenSparse if sparse else kinds.EXUdense
    chosen.linearSolver.reuseAnalyzedPattern = sparse
    chosen.parallel.numberOfThreads = 1
    chosen.solution.file.write = False
    chosen.solution.solverInformationFileName = ""
    chosen.solution.sensors.active = False
    chosen.cleanUpMemory = False
    chosen.displayComputationTime = False
    return chosen


def cpu_seconds(system, chosen, **options):
    """CPU time of the solver call."""
    start = time.process_time()
    system.SolveDynamic(chosen, **options)
    return time.process_time() - start
